/**
 * Updates the status page each minute while somebody looks at it, and keeps open folds, focus and scroll position. If an
 * update fails, the page says since when it is not up to date, and is no longer green.
 */
export const STATUS_SCRIPT = `
const main = document.querySelector('main');
const nameOf = (element) => element.parentNode.id + element.getAttribute('href');

function show(next) {
  const fresh = next.getElementById('stale')?.closest('main');
  if (!fresh) throw new Error('the response is another page');
  for (const { id } of main.querySelectorAll('details[open]')) next.getElementById(id)?.setAttribute('open', '');
  const focused = nameOf(document.activeElement);
  main.replaceChildren(...fresh.childNodes);
  document.title = next.title;
  const links = [...main.querySelectorAll('a, summary')];
  links.find((element) => nameOf(element) === focused)?.focus({ preventScroll: true });
}

async function update() {
  if (document.hidden) return;
  try {
    // Absolute: the browser refuses one relative to an address that names a user and a password.
    const response = await fetch(location.origin + location.pathname, { signal: AbortSignal.timeout(30000) });
    if (!response.ok) throw new Error('the response is ' + response.status);
    show(new DOMParser().parseFromString(await response.text(), 'text/html'));
  } catch (error) {
    const since = document.querySelector('.asof span').textContent;
    document.getElementById('stale').textContent = 'Not up to date since ' + since + ': ' + error.message + '.';
    document.querySelector('.verdict').classList.replace('good', 'warning');
    document.getElementById('verdict').textContent = 'Not up to date';
    document.title = 'Not up to date · beaconchain-exporter';
  }
}

setInterval(update, 60000);
document.addEventListener('visibilitychange', update);
`;
