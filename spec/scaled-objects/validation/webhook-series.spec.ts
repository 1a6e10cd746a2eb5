import { expect } from 'chai';
import { WebhookSeries } from '#lib/scaled-objects/validation/webhook-series.ts';

describe('WebhookSeries', () => {
  it('counts by namespace and rule', () => {
    const reported = new WebhookSeries();
    for (const action of ['create', 'update', 'update']) reported.validated({ namespace: 'shop', action });
    reported.refused({ namespace: 'shop', action: 'update', reason: 'other-hpa' });
    expect(samplesOf(reported)).to.deep.equal([
      'keda_webhook_scaled_object_validations_total{namespace="shop",action="create"} 1',
      'keda_webhook_scaled_object_validations_total{namespace="shop",action="update"} 2',
      'keda_webhook_scaled_object_validation_errors_total{namespace="shop",action="update",reason="other-hpa"} 1',
    ]);
  });

  it('counts together what can be no namespace, and those beyond the first thousand', () => {
    const reported = new WebhookSeries();
    for (const namespace of ['', 'Shop', '-a', 'a.b', 'a\nb', 'x'.repeat(64), 'x'.repeat(3_000_000)])
      reported.validated({ namespace, action: 'create' });
    expect(samplesOf(reported)).to.deep.equal([
      'keda_webhook_scaled_object_validations_total{namespace="others",action="create"} 7',
    ]);
    for (let at = 0; at < 1500; at++) reported.validated({ namespace: `n${at}`, action: 'create' });
    const samples = samplesOf(reported);
    expect(samples).to.have.length(1001);
    expect(samples).to.include(
      'keda_webhook_scaled_object_validations_total{namespace="others",action="create"} 507',
    );
    expect(samples).to.include(
      'keda_webhook_scaled_object_validations_total{namespace="n999",action="create"} 1',
    );
  });
});

function samplesOf({ series }: WebhookSeries): readonly string[] {
  return [...series.slices()]
    .join('')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
}
