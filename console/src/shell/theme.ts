/** The reader's choice between light and dark, kept in this browser. */
const STORED_AS = 'signalbox-theme';

type Theme = 'light' | 'dark';

/** Uses the reader's choice; without one the system's counts. */
export function applyTheme(): void {
  const stored = localStorage.getItem(STORED_AS);
  if (stored === 'light' || stored === 'dark') document.documentElement.dataset.theme = stored;
}

export function toggleTheme(): void {
  const theme: Theme = isDark() ? 'light' : 'dark';
  document.documentElement.dataset.theme = theme;
  localStorage.setItem(STORED_AS, theme);
}

function isDark(): boolean {
  const { theme } = document.documentElement.dataset;
  return theme === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
}
