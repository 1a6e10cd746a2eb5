import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ApiFault, refuseRequests } from '#simulator/api-server/faults.ts';
import { Browser, CUT_CELLS } from '#spec/support/browser.ts';
import { eventually } from '#spec/support/eventually.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import { findKubectl, Kubectl, startKubectlProxy } from '#spec/support/kubectl.ts';
import { requireProgram } from '#spec/support/machine-programs.ts';
import { createShownObjects, HOSTILE, setQueue } from '#spec/support/shown-objects.ts';
import {
  STRANGER_TOKEN,
  startWatchedAutoscaler,
  VIEWER_TOKEN,
  type WatchedAutoscaler,
} from '#spec/support/watched-autoscaler.ts';

/** Directory of screenshots, for manual inspection. */
const PHOTOGRAPHS = '.cache/photographs';
const WEB = '/ui?view=hpas&namespace=default&name=web';

describe('autoscalerUi', () => {
  let autoscaler: WatchedAutoscaler;

  before(async () => {
    autoscaler = await startWatchedAutoscaler();
    await createShownObjects(autoscaler);
    for (const queue of [20, 20, 45, 70, 90, 110, 80, 40, 20, 10, 10, 10]) {
      setQueue(autoscaler, queue);
      await autoscaler.elapse(20);
    }
    await eventually(async () => (await decisions()) >= 12);
  });

  after(() => autoscaler[Symbol.asyncDispose]());

  const get = async (path: string) => {
    const { status, body } = await autoscaler.get(path);
    expect(status, body).to.equal(200);
    return body;
  };
  const decisions = async () =>
    JSON.parse((await autoscaler.get('/debug/hpa?namespace=default&name=web')).body).decisions?.length ?? 0;

  it('shows controllers, leader and the number of problems', async () => {
    const page = textOf(await get('/ui'));
    expect(page).to.match(/Replica replica-1 .*Leader This replica for \S+/);
    expect(page).to.match(/Controllers cronhpa, hpa, scaledobjects/);
    expect(page).to.match(/Needs attention HPAs 6 \d failing or not managed/);
    expect(page).to.match(/Needs attention Metrics 3 2 failing or not served/);
    expect(page).to.match(/Cron-HPAs 2 1 not ready/);
    expect(page).to.match(/ScaledObjects 4 1 not ready/);
  });

  it('shows each collected metric as /debug/metrics has it', async () => {
    const page = textOf(await get('/ui?view=metrics'));
    expect(page).to.match(
      /Healthy default\/worker External\/orders json-path 60 \S+ ago 15s in \S+ .* in \/orders of 127\.0\.0\.1:\d+/,
    );
    expect(page).to.match(
      /Failing default\/worker External\/down json-path – – 1m in \S+ .* in \/down of .*503.* \(for \S+\)/,
    );
    expect(page).to.match(/Failing default\/worker External\/odd/);
  });

  it('shows the text of /debug/hpa and charts of an HPA', async () => {
    const { body: why } = await autoscaler.get('/debug/hpa?namespace=default&name=web&format=text');
    const page = await get(WEB);
    expect(unescaped(/<pre class="why">([^<]*)<\/pre>/.exec(page)?.[1] ?? '')).to.equal(why.trimEnd());
    const drawings = page.match(/<svg .*?<\/svg>/gs) ?? [];
    expect(drawings).to.have.lengthOf(2);
    expect(drawings[0]).to.match(/<path class="replicas" d="M56 [\d.]+([HV][\d.]+)+"/);
    expect(drawings[0]).to.match(/<path class="proposed" d="M56 [\d.]+([HV][\d.]+)+"/);
    expect(drawings[1])
      .to.match(/<path class="load-0" d="M56 [\d.]+(L[\d.]+ [\d.]+)+"/)
      .and.to.include('class="load-1"');
  });

  it('shows the jobs of a Cron-HPA, and what blocks them', async () => {
    const page = textOf(await get('/ui?view=cronhpas&namespace=default&name=night'));
    expect(page).to.match(/Target Deployment night/);
    expect(page).to.match(
      /Succeed scale-up 0 \*\/3 \* \* \* \* UTC 4 in \S+ \S+ ago cron hpa job scale-up executed/,
    );
    expect(page).to.match(/resting @daily UTC 1 – – never due: suspend is true/);
    expect(textOf(await get('/ui?view=cronhpas'))).to.match(/Failing default nowhere .* ScalingFailed: /);
  });

  it('shows the triggers of ScaledObjects and ScaledJobs, and the next action', async () => {
    const mail = textOf(await get('/ui?view=scaledobjects&namespace=default&name=mail'));
    expect(mail)
      .to.match(/HPA keda-hpa-mail/)
      .and.to.match(/Next leave the replicas to the HPA .*; next poll in \d+ s/);
    expect(mail).to.match(/Active metrics-api 12 5 per replica \S+ ago 0 in \S+ value at \S+\/mails/);
    const [drawing] =
      (await get('/ui?view=scaledobjects&namespace=default&name=mail')).match(/<svg .*?<\/svg>/s) ?? [];
    expect(drawing).to.match(/<path class="replicas" d="M56 [\d.]+([HV][\d.]+)+"/);
    const stuck = textOf(await get('/ui?view=scaledobjects&namespace=default&name=stuck'));
    expect(stuck).to.match(/Failing metrics-api – 5 per replica \S+ ago [1-9]\d* in \S+ /);
    const jobs = textOf(await get('/ui?view=scaledobjects&namespace=default&name=thumbnails'));
    expect(jobs)
      .to.match(
        /Jobs 1 active, 0 complete, 0 failed, listed \S+ ago State Job Created Ended Active thumbnails-\S+/,
      )
      .and.to.match(/ScaledJob State Healthy Scales Jobs Next next poll in \d+ s/)
      .and.to.match(/Active metrics-api 3 5 per replica/);
  });

  it('applies a filter', async () => {
    const page = await get('/ui?view=hpas&namespace=default&filter=ro');
    expect(page).to.include('>broken</a>').and.not.to.include('>web</a>');
    expect(await get('/ui?view=hpas&namespace=other')).to.include('No HPAs here');
  });

  it('escapes names of objects', async () => {
    const paths = ['metrics', 'cronhpas', 'cronhpas&namespace=default&name=nowhere', 'hpas'].map(
      (view) => `/ui?view=${view}`,
    );
    const hostile = encodeURIComponent(`"'>${HOSTILE}`);
    paths.push(
      `/ui?view=hpas&filter=${hostile}`,
      `/ui?view=hpas&namespace=${hostile}`,
      `/ui?refresh=${hostile}`,
    );
    for (const path of paths) {
      const page = await get(path);
      expect(page, path).not.to.include('<img');
      expect(page, path).not.to.include('<script');
    }
    expect(await get('/ui?view=cronhpas&namespace=default&name=nowhere')).to.include(
      '&lt;img src=x onerror=',
    );
  });

  it('refreshes itself unless paused', async () => {
    expect(await get('/ui')).to.include('<meta http-equiv="refresh" content="30">');
    expect(await get('/ui?refresh=off')).not.to.include('http-equiv="refresh"');
  });

  it('returns 404 for unknown objects', async () => {
    for (const path of [
      'view=none',
      'view=hpas&namespace=default&name=none',
      'view=cronhpas&namespace=a&name=b',
    ])
      expect((await autoscaler.get(`/ui?${path}`)).status, path).to.equal(404);
  });

  it('requires permission, and gives browsers without credentials a form without data', async () => {
    const received = (headers: Record<string, string>, method = 'GET') =>
      requestHttps(`${autoscaler.origin}/ui?view=hpas`, { rejectUnauthorized: false, headers, method });
    const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
    const html = { Accept: 'text/html,application/xhtml+xml' };
    expect((await received({ ...html, ...bearer(VIEWER_TOKEN) })).status).to.equal(200);
    const form = await received(html);
    expect(form.status).to.equal(401);
    expect(form.headers).to.include({
      'www-authenticate': 'Bearer',
      'content-type': 'text/html; charset=utf-8',
    });
    expect(form.headers['content-security-policy']).to.include("default-src 'none'");
    expect(form.body).to.include('<form id="access"').and.to.not.include('HorizontalPodAutoscaler');
    for (const [token, status] of [
      [STRANGER_TOKEN, 403],
      ['no such token', 401],
    ] as const) {
      const refused = await received({ ...html, ...bearer(token) });
      expect(refused.status, token).to.equal(status);
      expect(JSON.parse(refused.body).kind).to.equal('Status');
    }
    expect((await received({})).status).to.equal(403); // not a browser
    const basic = `Basic ${Buffer.from(`anybody:${VIEWER_TOKEN}`).toString('base64')}`;
    expect((await received({ ...html, Authorization: basic })).status).to.not.equal(200);
    expect((await received({ ...html, ...bearer(VIEWER_TOKEN) }, 'HEAD')).status).to.equal(200);
    expect((await received({ ...html, ...bearer(VIEWER_TOKEN) }, 'POST')).status).not.to.equal(200);
    const debug = await requestHttps(`${autoscaler.origin}/debug/hpa`, {
      ...{ rejectUnauthorized: false, headers: html },
    });
    expect(debug.status).to.equal(403); // only the page has the form
    expect(debug.body).to.not.include('<form');
  });

  it('opens behind kubectl proxy as its user, without a form', async () => {
    await using proxy = await startKubectlProxy(await findKubectl(), {
      ...{ server: autoscaler.origin, token: VIEWER_TOKEN },
    });
    const page = await fetch(`${proxy.url}/ui?view=hpas`, { headers: { Accept: 'text/html' } });
    expect(page.status).to.equal(200);
    expect(await page.text()).to.include('>web</a>');
  });

  it('serves its style and scripts without authentication, and forbids foreign content', async () => {
    for (const script of ['elements.js', 'sign-in.js', 'signed-in-pages.js', 'copy.js'])
      expect((await autoscaler.get(`/ui/${script}`, '')).status, script).to.equal(200);
    const style = await autoscaler.get('/ui/page.css', '');
    expect(style.status).to.equal(200);
    expect(style.body).to.include(':root').and.to.include('.chart');
    const { headers } = await autoscaler.get('/ui');
    expect(headers['content-security-policy'])
      .to.include("default-src 'none'")
      .and.to.include("form-action 'self'");
    expect(headers['cache-control']).to.equal('no-cache, private');
  });

  it('makes YAML that kubectl applies, of each kind, and writes nothing itself', async () => {
    const { server } = autoscaler;
    const kubectl = new Kubectl(await findKubectl(), server.kubeconfig);
    const folder = await mkdtemp(join(tmpdir(), 'composed-'));
    const forms = {
      hpa: 'name=composed-hpa&target=free&max=20&cpu=60&metric=queue-depth&value=30&query=sum(depth)',
      cronhpa: 'name=composed-cronhpa&target=broken&job1=up&schedule1=0+8+*+*+*&size1=3',
      scaledobject:
        'name=composed-so&target=night&trigger=cron&p.timezone=UTC&p.start=0+8+*+*+*&p.end=0+9+*+*+*&p.desiredReplicas=2',
    };
    const resources = { hpa: 'hpa', cronhpa: 'cronhpa', scaledobject: 'scaledobject' };
    try {
      for (const [kind, form] of Object.entries(forms)) {
        const page = await get(`/ui/new?kind=${kind}&${form}`);
        const yaml = unescaped(/<pre id="yaml" class="why">(.*?)<\/pre>/s.exec(page)?.[1] ?? '');
        const command = unescaped(/<pre id="command" hidden>(.*?)<\/pre>/s.exec(page)?.[1] ?? '');
        expect(command).to.equal(`kubectl apply -f - <<'EOF'\n${yaml}EOF\n`);
        const name = `composed-${kind === 'scaledobject' ? 'so' : kind}`;
        const find = () => kubectl.run(['get', resources[kind as 'hpa'], name, '--output=name']);
        expect((await find()).stdout, `${kind} before`).to.equal('');
        const file = join(folder, `${kind}.yaml`);
        await writeFile(file, yaml);
        const applied = await kubectl.run(['apply', '-f', file]);
        expect(applied.stdout, applied.stderr).to.match(/created/);
        expect((await find()).stdout, `${kind} after`).to.include(name);
        expect((await kubectl.run(['delete', '--wait=false', '-f', file])).stdout).to.include('deleted');
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('warns beside a Prometheus query unless --prometheus-server is set', async () => {
    const form = '/ui/new?kind=hpa&name=new&target=web&max=20&metric=depth&value=30&query=sum(depth)';
    const warning = 'The autoscaler has no --prometheus-server';
    expect(await get(form)).to.include(warning);
    await using configured = await startWatchedAutoscaler(['--prometheus-server=http://127.0.0.1:1']);
    const { status, body } = await configured.get(form);
    expect(status, body).to.equal(200);
    expect(body).to.include('sum(depth)').and.not.to.include(warning);
  });

  it('reports beside a form that its target does not exist, or cannot be checked, and makes YAML anyway', async () => {
    await autoscaler.deployment('idle', 1);
    const forms = [
      'kind=hpa&max=20&cpu=60',
      'kind=cronhpa&job1=up&schedule1=0+8+*+*+*&size1=3',
      'kind=scaledobject&trigger=cron&p.timezone=UTC&p.start=0+8+*+*+*&p.end=0+9+*+*+*&p.desiredReplicas=2',
    ];
    const warnings = async (form: string) => {
      const page = await get(`/ui/new?${form}`);
      expect(page, form).to.include('id="yaml"');
      return [...page.matchAll(/<small id="p-([^"]*)" class="warning">([^<]+)</g)].map(
        ([, field, text = '']) => [field, unescaped(text)],
      );
    };
    for (const form of forms) {
      expect(await warnings(`${form}&name=new&target=idle`), form).to.deep.equal([]);
      expect(await warnings(`${form}&name=new&target=absent`), form).to.deep.equal([
        ['target', 'deployments.apps "absent" not found in namespace default'],
      ]);
    }
    const { apiServer } = autoscaler.server.cluster;
    const unchecked = 'The target could not be checked:';
    const refused = refuseRequests({ code: 403, reason: 'Forbidden' });
    const ofTarget = (fault: ApiFault): ApiFault => ({
      serve: (request, context) =>
        request.path.endsWith('/idle/scale') ? fault.serve(request, context) : context.next(),
    });
    try {
      apiServer.setFaults(ofTarget(refused));
      expect(await warnings(`${forms[0]}&name=new&target=idle`)).to.deep.equal([
        ['target', `${unchecked} the permission to get deployments/scale is missing`],
      ]);
      const requested = Promise.withResolvers<void>();
      apiServer.setFaults(
        ofTarget({
          serve: () => {
            requested.resolve();
            return new Promise(() => {});
          },
        }),
      );
      const page = warnings(`${forms[0]}&name=new&target=idle`);
      await requested.promise;
      await autoscaler.clock.advance(2000);
      expect(await page).to.deep.equal([['target', `${unchecked} the API server does not respond`]]);
    } finally {
      apiServer.setFaults();
    }
  });

  it('reports problems beside the fields of a form, escapes them, and takes only known kinds', async () => {
    const conflict = await get(
      '/ui/new?kind=scaledobject&name=other&target=mail&trigger=cron&p.timezone=UTC&p.start=0+8+*+*+*&p.end=0+9+*+*+*&p.desiredReplicas=2',
    );
    expect(textOf(conflict)).to.include("is already managed by the ScaledObject 'mail'");
    expect(conflict).to.not.include('id="yaml"');
    const secondHpa = await get('/ui/new?kind=hpa&name=second&target=web&max=20&cpu=60');
    expect(textOf(secondHpa)).to.match(/HorizontalPodAutoscaler "[^"]+" also scales Deployment "web"/);
    expect(secondHpa).to.not.include('id="yaml"');
    const hostile = encodeURIComponent(`"'>${HOSTILE}`);
    for (const kind of ['hpa', 'cronhpa', 'scaledobject']) {
      const fields = [
        'name',
        'namespace',
        'target',
        'max',
        'cpu',
        'metric',
        'selector',
        'value',
        'query',
        'job1',
        'schedule1',
        'trigger',
        'p.query',
        'p.serverAddress',
        'authentication',
      ];
      const page = await get(
        `/ui/new?kind=${kind}&${fields.map((field) => `${field}=${hostile}`).join('&')}`,
      );
      expect(page, kind).to.not.include('<img').and.to.not.include('id="yaml"');
      expect(page.match(/<script/g), kind).to.have.lengthOf(1);
    }
    const { status, body } = await autoscaler.get(`/ui/new?kind=${hostile}`);
    expect(status).to.equal(404);
    expect(body).to.not.include('<img');
    expect((await autoscaler.get('/ui/new', STRANGER_TOKEN)).status).to.equal(403);
    const { headers } = await autoscaler.get('/ui/new');
    expect(headers['content-security-policy']).to.include("script-src 'self'").and.to.not.include('unsafe');
  });

  describe('in Chromium', () => {
    let browser: Browser | undefined;

    before(async function () {
      const chromium = await requireProgram(this, 'chromium');
      await mkdir(PHOTOGRAPHS, { recursive: true });
      browser = await Browser.start(chromium);
      await browser.sendToken(VIEWER_TOKEN);
    });

    after(() => browser?.[Symbol.asyncDispose]());

    const views = {
      overview: '/ui',
      metrics: '/ui?view=metrics',
      hpas: '/ui?view=hpas',
      hpa: WEB,
      cronhpas: '/ui?view=cronhpas',
      cronhpa: '/ui?view=cronhpas&namespace=default&name=night',
      scaledobjects: '/ui?view=scaledobjects',
      scaledobject: '/ui?view=scaledobjects&namespace=default&name=mail',
      scaledjob: '/ui?view=scaledobjects&namespace=default&name=thumbnails',
      'new-hpa': '/ui/new?kind=hpa&name=web2&min=2&max=20&cpu=60&metric=queue&value=30',
      'new-hpa-problems': '/ui/new?kind=hpa&name=Web&min=9&max=3',
      'new-cronhpa':
        '/ui/new?kind=cronhpa&name=web2&job1=up&schedule1=0+8+*+*+MON-FRI&size1=9&zone1=Europe/Berlin&job2=down&schedule2=0+20+*+*+*&size2=2',
      'new-scaledobject':
        '/ui/new?kind=scaledobject&name=web2&trigger=cron&p.timezone=UTC&p.start=0+8+*+*+*&p.end=0+9+*+*+*&p.desiredReplicas=3',
    };

    for (const [name, path] of Object.entries(views)) {
      it(`shows ${name} in light and dark, wide and narrow, and is never wider than the window (photographs)`, async () => {
        if (!browser) throw new Error('there is no browser');
        await browser.open(`${autoscaler.origin}${path}`);
        for (const [width, scheme] of [
          [1280, 'light'],
          [1280, 'dark'],
          [420, 'light'],
          [420, 'dark'],
        ] as const) {
          await browser.resize({ width, height: 900 });
          await browser.prefer(scheme);
          await browser.photograph(`${PHOTOGRAPHS}/autoscaler-${name}-${width}-${scheme}.png`);
          const { scrollWidth, clientWidth } = (await browser.evaluate(
            '(({ scrollWidth, clientWidth }) => ({ scrollWidth, clientWidth }))(document.documentElement)',
          )) as { scrollWidth: number; clientWidth: number };
          expect(scrollWidth, `${width}`).to.be.at.most(clientWidth);
          expect(await browser.evaluate(CUT_CELLS), `cut at ${width}`).to.deep.equal([]);
        }
        expect(await browser.evaluate('document.styleSheets.length')).to.equal(1);
        const scripts = await browser.evaluate(`document.querySelectorAll('img, script').length`);
        expect(scripts).to.equal(name.startsWith('new-') ? 1 : 0); // copies
      });
    }

    it('fades a table at the edge of the window until it is scrolled to its end', async () => {
      if (!browser) throw new Error('there is no browser');
      await browser.open(`${autoscaler.origin}/ui`);
      await browser.prefer('light');
      const table = `document.querySelector('.scroll')`;
      const fades = (length: string) =>
        eventually(
          async () =>
            (await browser?.evaluate(`getComputedStyle(${table}).getPropertyValue('--fade')`)) === length,
        );
      await fades('0px');
      await browser.resize({ width: 660, height: 900 });
      await fades('40px');
      await browser.photograph(`${PHOTOGRAPHS}/autoscaler-fading-660-light.png`);
      await browser.evaluate(`${table}.scrollLeft = ${table}.scrollWidth`);
      await fades('0px');
    });

    it('filters by its form, and links to one object', async () => {
      if (!browser) throw new Error('there is no browser');
      await browser.open(`${autoscaler.origin}/ui?view=hpas`);
      await browser.type('input[name=filter]', 'we');
      await browser.click('form.filter button');
      await eventually(async () => String(await browser?.evaluate('location.search')).includes('filter=we'));
      await eventually(async () => (await browser?.evaluate('document.readyState')) === 'complete');
      await browser.click('td.name a');
      await eventually(async () => String(await browser?.evaluate('location.search')).includes('name=web'));
    });

    it('makes an HPA from a form, and copies it', async () => {
      if (!browser) throw new Error('there is no browser');
      await browser.permitClipboard(autoscaler.origin);
      await browser.open(`${autoscaler.origin}/ui`);
      await browser.click('nav.views a[href="ui/new"]');
      const has = (selector: string) =>
        eventually(async () => {
          const found = browser?.evaluate(`document.querySelector('${selector}') !== null`);
          return (await found?.catch(() => false)) === true; // a page that is left evaluates nothing
        });
      await has('form.compose');
      for (const [field, text] of [
        ['name', 'typed'],
        ['max', '20'],
        ['cpu', '60'],
      ] as const)
        await browser.type(`#f-${field}`, text);
      await browser.click('form.compose button');
      await has('#yaml');
      await has('svg.chart');
      await eventually(async () => (await browser?.evaluate('document.readyState')) === 'complete'); // its script, too
      await browser.click('button[data-copy="command"]');
      await eventually(
        async () =>
          (await browser?.evaluate(`document.querySelector('button[data-copy="command"]').textContent`)) ===
          'Copied',
      );
      const copied = String(await browser.evaluate('navigator.clipboard.readText()'));
      expect(copied)
        .to.match(/^kubectl apply -f - <<'EOF'\napiVersion: autoscaling\/v2\n/)
        .and.to.include('name: typed');
    });

    describe('without credentials', () => {
      const evaluate = (expression: string) => {
        if (!browser) throw new Error('there is no browser');
        return browser.evaluate(expression);
      };
      const shows = (text: string) =>
        eventually(async () => String(await evaluate('document.body.innerText')).includes(text));
      const enter = async (token: string) => {
        await browser?.type('#token', token);
        await browser?.click('#access button');
      };

      before(() => browser?.sendToken(undefined));

      it('requests a token, and explains why one is rejected (photograph)', async () => {
        if (!browser) throw new Error('there is no browser');
        await browser.open(`${autoscaler.origin}/ui?view=hpas`);
        await shows('kubectl -n kube-system create token default');
        await browser.resize({ width: 420, height: 900 });
        await browser.photograph(`${PHOTOGRAPHS}/autoscaler-sign-in-420.png`);
        expect(await browser.evaluate(CUT_CELLS)).to.deep.equal([]);
        await browser.resize({ width: 1280, height: 900 });
        await browser.photograph(`${PHOTOGRAPHS}/autoscaler-sign-in-1280.png`);
        await enter('no-such-token');
        await shows('The server rejects this token');
        await enter(STRANGER_TOKEN);
        await shows('User "stranger" cannot get path "/ui"');
        await enter('tök…en');
        await shows('Invalid token: ');
        expect(await evaluate('document.body.innerText')).to.not.include('HorizontalPodAutoscalers');
      });

      it('shows the page of the address with a token, follows links, and goes back', async () => {
        await enter(VIEWER_TOKEN);
        await shows('HorizontalPodAutoscalers');
        await browser?.click('td.name a');
        await shows('Latest decision');
        expect(await evaluate('location.search')).to.include('name=');
        await evaluate('history.back()');
        await shows('HorizontalPodAutoscalers');
        await browser?.type('input[name=filter]', 'we');
        await browser?.click('form.filter button');
        await eventually(async () => String(await evaluate('location.search')).includes('filter=we'));
        await eventually(async () => (await evaluate(`document.querySelectorAll('td.name').length`)) === 1);
      });

      it('makes a Cron-HPA with the token, and goes back to the lists', async () => {
        await browser?.click('nav.views a[href="ui/new"]');
        await shows('This form makes the YAML of an object');
        await evaluate(
          `[...document.querySelectorAll('.kinds a')].find((one) => one.textContent === 'Cron-HPA').click()`,
        );
        await eventually(async () => (await evaluate(`document.querySelector('#f-job1') !== null`)) === true);
        for (const [field, text] of [
          ['name', 'typed'],
          ['job1', 'up'],
          ['schedule1', '0 8 * * *'],
          ['size1', '3'],
        ] as const)
          await browser?.type(`#f-${field}`, text);
        await browser?.click('form.compose button');
        await shows('Next activations');
        expect(await evaluate('location.pathname')).to.equal('/ui/new');
        await evaluate(
          `[...document.querySelectorAll('nav.views a')].find((one) => one.textContent.startsWith('HPAs')).click()`,
        );
        await shows('HorizontalPodAutoscalers');
        expect(await evaluate('location.pathname')).to.equal('/ui');
      });

      it('stores the token nowhere, and forgets it with the page', async () => {
        const stored = await evaluate(
          'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, document.documentElement.outerHTML])',
        );
        expect(stored).to.not.include(VIEWER_TOKEN);
        await browser?.click('#sign-out');
        await shows('Sign in');
        expect(await evaluate('document.body.innerText')).to.not.include('HorizontalPodAutoscalers');
      });
    });
  });
});

/** The visible text of a page, in one line. */
function textOf(page: string): string {
  const inOneLine = page.replace(/<\/?(?:a|b|span|time)\b[^>]*>/g, '').replace(/<[^>]*>/g, ' ');
  return unescaped(inOneLine).replace(/\s+/g, ' ');
}

function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}
