/**
 * Brings the status page up to date each minute while somebody looks at it. Open folds, the focus and the place to which
 * the reader has scrolled stay. If it fails, the page says since when, and is not green any more. Without the script the
 * page says of when it is.
 */
export const STATUS_SCRIPT = `
const main = document.querySelector('main');
const place = (element) => element && element.parentNode.id + element.getAttribute('href');
let isAsking = false;

function show(next) {
  const fresh = next.querySelector('main:has(#stale)');
  if (!fresh) throw new Error('another page answers');
  for (const { id, open } of main.querySelectorAll('details')) {
    const fold = next.getElementById(id);
    if (fold) fold.open = open;
  }
  const focused = place(document.activeElement);
  main.replaceChildren(...fresh.childNodes);
  document.title = next.title;
  const again = [...main.querySelectorAll('a, summary')].find((element) => place(element) === focused);
  if (again) again.focus({ preventScroll: true });
}

async function update() {
  if (document.hidden || isAsking) return;
  isAsking = true;
  try {
    const response = await fetch(location.pathname, { signal: AbortSignal.timeout(30000) }).catch(() => {
      throw new Error('no answer');
    });
    if (!response.ok) throw new Error('the answer is ' + response.status);
    show(new DOMParser().parseFromString(await response.text(), 'text/html'));
  } catch (error) {
    const since = document.querySelector('.asof time').textContent;
    document.getElementById('stale').textContent = 'Not up to date since ' + since + ': ' + error.message + '.';
    document.querySelector('.verdict').classList.replace('good', 'warning');
    document.title = 'Not up to date · beaconchain-exporter';
  } finally {
    isAsking = false;
  }
}

setInterval(update, 60000);
document.addEventListener('visibilitychange', update);
`;
