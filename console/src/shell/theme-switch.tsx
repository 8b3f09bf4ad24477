import { chooseTheme, THEMES, type Theme, useTheme } from './theme.ts';

const TITLES: Readonly<Record<Theme, string>> = { system: 'System', light: 'Light', dark: 'Dark' };

/** Light, dark, or as the system has it. */
export function ThemeSwitch() {
  const chosen = useTheme();
  return (
    <fieldset class="seg theme" aria-label="Theme" title="⇧T changes between light and dark">
      {THEMES.map((theme) => (
        <button key={theme} type="button" aria-pressed={theme === chosen} onClick={() => chooseTheme(theme)}>
          {TITLES[theme]}
        </button>
      ))}
    </fieldset>
  );
}
