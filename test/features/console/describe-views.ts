import { afterAll, beforeAll, describe } from 'vitest';
import { noBrowserReason, openBrowser } from './chromium.ts';
import { type ConsoleKind, type ConsoleUnderTest, openConsole } from './console-under-test.ts';

/** How long a gateway with much in it may take to be filled and opened on a busy machine, milliseconds. */
const OPENING_MS = 180_000;

/**
 * Runs suites of views in one browser and on one gateway: both take longer to open than most tests take. Without a
 * browser they are left out, and the title says why.
 */
export function describeViews(
  title: string,
  kind: ConsoleKind,
  suites: readonly ((under: () => ConsoleUnderTest) => void)[],
): void {
  const reason = noBrowserReason === undefined ? '' : ` (${noBrowserReason})`;
  describe.skipIf(noBrowserReason !== undefined)(`${title}${reason}`, () => {
    let opened: ConsoleUnderTest;
    beforeAll(async () => {
      opened = await openConsole(await openBrowser(), kind);
    }, OPENING_MS);
    afterAll(async () => {
      await opened.browser.close();
      await opened.gateway.close();
    });
    for (const suite of suites) suite(() => opened);
  });
}
