import { copiedMoney } from '../format/money.ts';

/** Attributes of a figure that is shown rounded: all digits on hover, and when it is copied. */
export interface ExactAttributes {
  readonly title: string;
  readonly 'data-exact': string;
}

/** Attributes of an amount: nine places. */
export function exactUsd(usd: number): ExactAttributes {
  return { title: `$${copiedMoney(usd)}`, 'data-exact': copiedMoney(usd) };
}

/** Attributes of any other figure. */
export function exactFigure(text: string): ExactAttributes {
  return { title: text, 'data-exact': text };
}

/** Lets what is copied have all digits of the figures in it, also if only a part of one is selected. */
export function copyExactly(): void {
  document.addEventListener('copy', (event) => {
    const text = isField(event.target) ? null : selectedText(document.getSelection());
    if (text === null) return;
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
  });
}

/** Fields have selections of their own. */
function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
}

/** The selection with exact figures; null = it has none, and the browser copies it. */
function selectedText(selection: Selection | null): string | null {
  if (selection === null || selection.isCollapsed || selection.rangeCount === 0) return null;
  const range = selection.getRangeAt(0);
  const around = range.commonAncestorContainer;
  const within = (around instanceof Element ? around : around.parentElement)?.closest('[data-exact]');
  if (within != null) return within.getAttribute('data-exact');
  const copy = document.createElement('div');
  copy.append(range.cloneContents());
  const figures = [...copy.querySelectorAll('[data-exact]')];
  if (figures.length === 0) return null;
  for (const figure of figures) figure.textContent = figure.getAttribute('data-exact');
  // Only what is part of the page has lines and columns.
  copy.className = 'vh';
  document.body.append(copy);
  const text = copy.innerText;
  copy.remove();
  return text;
}
