import { useEffect, useState } from 'preact/hooks';

/** The reader's choice between light and dark, kept in this browser. */
const STORED_AS = 'signalbox-theme';

/** `system`: as the system has it, now and whenever it changes. */
export const THEMES = ['system', 'light', 'dark'] as const;

export type Theme = (typeof THEMES)[number];

const listeners = new Set<() => void>();

/** Uses the reader's choice. */
export function applyTheme(): void {
  const theme = chosenTheme();
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  for (const listener of listeners) listener();
}

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(STORED_AS);
  else localStorage.setItem(STORED_AS, theme);
  applyTheme();
}

/** From what is shown to the other. */
export function toggleTheme(): void {
  const theme = chosenTheme();
  const isDark = theme === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
  chooseTheme(isDark ? 'light' : 'dark');
}

/** The choice, kept up to date. */
export function useTheme(): Theme {
  const [theme, setTheme] = useState(chosenTheme);
  useEffect(() => {
    const read = (): void => setTheme(chosenTheme());
    listeners.add(read);
    return () => {
      listeners.delete(read);
    };
  }, []);
  return theme;
}

function chosenTheme(): Theme {
  const stored = localStorage.getItem(STORED_AS);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}
