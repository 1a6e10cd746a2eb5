/** Creates an element. Text is never parsed as HTML, since names in the cluster are chosen by its users. */
export function element(tag, { className = '', text, ...attributes } = {}, children = []) {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  if (text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Splits a text into text and code between backticks. */
export function prose(text) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? element('code', { text: part }) : part));
}

const SVG = 'http://www.w3.org/2000/svg';
const [WIDTH, HEIGHT] = [96, 22];

/** Draws values, oldest first, on an axis from zero. */
export function sparkline(values, label) {
  const drawing = document.createElementNS(SVG, 'svg');
  drawing.setAttribute('class', 'trend');
  drawing.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
  drawing.setAttribute('preserveAspectRatio', 'none');
  drawing.setAttribute('role', 'img');
  drawing.setAttribute('aria-label', label);
  if (values.length < 2) return drawing;
  const highest = Math.max(...values) * 1.1 || 1;
  const points = values.map((value, index) => {
    const x = (index / (values.length - 1)) * WIDTH;
    const y = HEIGHT - (value / highest) * HEIGHT;
    return `${x.toFixed(1)} ${y.toFixed(1)}`;
  });
  const line = `M${points.join('L')}`;
  drawing.append(path(`${line}L${WIDTH} ${HEIGHT}L0 ${HEIGHT}Z`, 'area'), path(line, 'line'));
  return drawing;
}

function path(d, className) {
  const made = document.createElementNS(SVG, 'path');
  made.setAttribute('d', d);
  made.setAttribute('class', className);
  return made;
}
