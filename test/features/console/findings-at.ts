import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { seriousFindings } from './browser.ts';

/** Counts the requests of a page. */
export class PageRequests {
  #sent = 0;
  #ended = 0;

  constructor(page: Page) {
    const ended = (): void => {
      this.#ended++;
    };
    page
      .on('request', () => {
        this.#sent++;
      })
      .on('requestfinished', ended)
      .on('requestfailed', ended);
  }

  /** All that were sent so far. */
  get sent(): number {
    return this.#sent;
  }

  /** Resolves when all have been answered. */
  async answered(): Promise<void> {
    while (this.#ended < this.#sent) await sleep(5);
  }
}

/** Goes to an address as a link of the console does: the page is not loaded again. */
export async function goTo(page: Page, address: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent('popstate'))`,
  );
}

/** Goes to an address, and waits for a part of the view and for everything it asks for. */
export async function showView(
  page: Page,
  requests: PageRequests,
  address: string,
  part: string,
): Promise<void> {
  await goTo(page, address);
  await page.locator(part).first().waitFor();
  do {
    await requests.answered();
    // A view and an open drawer may each wait for rows of their own.
    await page.locator('.sk-rows').first().waitFor({ state: 'detached' });
    // What came is drawn in the next frame, and may ask for more.
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
  } while ((await page.locator('.sk-rows').count()) > 0);
}

const PHONE = { width: 390, height: 320 };
const DESK = { width: 1440, height: 900 };
/** Lower than a real one, so that lists draw fewer rows, of which one is like the other: axe-core looks at each. */
const LOW_DESK = { width: 1440, height: 320 };

/** True if markup of a name or a prompt became part of the page or ran. See `MARKUP`. */
export const IS_INJECTED = `'injected' in window || document.getElementById('injected') !== null
  || document.querySelector('a[href^="javascript:" i]') !== null`;

/** A name that would run if a view took it for markup. */
export const MARKUP = '<img id="injected" src="/nowhere.png" onerror="window.injected=1">';

/**
 * What is wrong with a view as it is shown now: for those who cannot see it, in its colours, light and dark, and on a
 * phone. Colours depend on the theme alone, and all else on the width alone, so each is checked where it differs.
 */
export async function findingsOf(page: Page): Promise<readonly string[]> {
  await page.setViewportSize(LOW_DESK);
  const light = await seriousFindings(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await seriousFindings(page, 'colours');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(PHONE);
  const phone = await seriousFindings(page, 'structure');
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  await page.setViewportSize(DESK);
  return [
    ...light,
    ...dark.map((finding) => `dark: ${finding}`),
    ...phone.map((finding) => `phone: ${finding}`),
    ...(width > PHONE.width ? [`is ${width} wide on a phone`] : []),
    ...((await page.evaluate<boolean>(IS_INJECTED)) ? ['ran markup of a name or a prompt'] : []),
  ];
}

/** What is wrong with views, by their address. Each comes with a part that shows that it is there. */
export async function findingsAt(
  page: Page,
  views: readonly (readonly [address: string, part: string])[],
): Promise<Record<string, readonly string[]>> {
  const requests = new PageRequests(page);
  const found: Record<string, readonly string[]> = {};
  for (const [address, part] of views) {
    await showView(page, requests, address, part);
    const wrong = await findingsOf(page);
    if (wrong.length > 0) found[address] = wrong;
  }
  return found;
}
