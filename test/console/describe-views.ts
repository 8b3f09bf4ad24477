import { afterAll, beforeAll, describe } from 'vitest';
import { noBrowserReason, openBrowser } from './chromium.ts';
import { type ConsoleUnderTest, openConsole } from './console-under-test.ts';

/**
 * Runs suites of views in one browser and on one gateway: both take longer to open than most tests take. Without a
 * browser they are left out, and the title says why.
 */
export function describeViews(
  title: string,
  kind: Parameters<typeof openConsole>[1],
  suites: readonly ((under: () => ConsoleUnderTest) => void)[],
): void {
  const reason = noBrowserReason === undefined ? '' : ` (${noBrowserReason})`;
  describe.skipIf(noBrowserReason !== undefined)(`${title}${reason}`, () => {
    let opened: ConsoleUnderTest;
    beforeAll(async () => {
      opened = await openConsole(await openBrowser(), kind);
    });
    afterAll(async () => {
      await opened.browser.close();
      await opened.gateway.close();
    });
    for (const suite of suites) suite(() => opened);
  });
}
