/** What a problem is about: a row of a form, or of a table of controls. */
const ROW = '.f-row, tr';
const CONTROL = 'input, select, textarea, button.picker, button[aria-pressed="true"]';

/** Scrolls to the first problem that a form shows, and gives its control the focus. */
export function showFirstProblem(form: HTMLElement | null): void {
  const note = form?.querySelector<HTMLElement>('.err:not(.soft)');
  const row = note?.closest(ROW);
  row?.querySelector<HTMLElement>(CONTROL)?.focus({ preventScroll: true });
  (row ?? note)?.scrollIntoView({ block: 'center' });
}
