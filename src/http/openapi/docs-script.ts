/** Behaviour of the page: the reader's own address, search, copying. Without it everything can still be read. */
export const DOCS_SCRIPT = `
const base = location.origin + location.pathname.replace(/\\/docs\\/?$/, '');
if (location.protocol.startsWith('http')) {
  for (const code of document.querySelectorAll('pre.sample code')) {
    code.textContent = code.textContent.replaceAll('http://127.0.0.1:8787', base);
  }
  for (const place of document.querySelectorAll('.origin')) place.textContent = base;
}
const search = document.getElementById('search');
const found = document.getElementById('found');
const entries = [...document.querySelectorAll('[data-search]')].map((element) => ({
  element,
  words: (element.dataset.search + ' ' + element.id).toLowerCase(),
  link: document.querySelector('nav a[href="#' + element.id + '"]'),
}));
function show() {
  const wanted = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let shown = 0;
  for (const { element, words, link } of entries) {
    const isShown = wanted.every((word) => words.includes(word));
    element.hidden = !isShown;
    if (link) link.parentElement.hidden = !isShown;
    if (isShown) shown++;
  }
  for (const group of document.querySelectorAll('[data-group]')) {
    group.hidden = group.querySelector('[data-search]:not([hidden]), nav li:not([hidden])') === null;
  }
  found.textContent = wanted.length === 0 ? '' : shown === 0 ? 'Nothing found' : shown + ' found';
}
search.addEventListener('input', show);
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && event.target !== search) {
    event.preventDefault();
    document.getElementById('menu').open = true;
    search.focus();
  }
  if (event.key === 'Escape' && event.target === search) {
    search.value = '';
    show();
  }
});
// Browsers offer the clipboard over HTTPS and on this machine only: elsewhere the selection is copied.
async function copy(code) {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(code.textContent);
      return true;
    } catch {}
  }
  getSelection().selectAllChildren(code);
  return document.execCommand('copy');
}
for (const block of document.querySelectorAll('pre.sample')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    button.textContent = (await copy(block.querySelector('code'))) ? 'Copied' : 'Selected';
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  });
  block.prepend(button);
}
const menu = document.getElementById('menu');
const narrow = matchMedia('(max-width: 900px)');
const fold = () => { menu.open = !narrow.matches; };
narrow.addEventListener('change', fold);
fold();
menu.addEventListener('click', (event) => {
  if (narrow.matches && event.target.closest('a')) menu.open = false;
});
const theme = document.getElementById('theme');
theme.hidden = false;
theme.addEventListener('click', () => {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = isDark ? 'light' : 'dark';
});
const byTheme = new URLSearchParams(location.search).get('theme');
if (byTheme === 'light' || byTheme === 'dark') document.documentElement.dataset.theme = byTheme;
`;
