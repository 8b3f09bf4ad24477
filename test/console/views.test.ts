import { afterAll, beforeAll, describe } from 'vitest';
import { noBrowserReason, openBrowser } from './browser.ts';
import { type ConsoleUnderTest, openConsole } from './console-under-test.ts';
import { accessSuite } from './views/access.ts';
import { allViewsSuite } from './views/all-views.ts';
import { analyticsSuite } from './views/analytics.ts';
import { filesAndAppsSuite } from './views/files-and-apps.ts';
import { gatewayViewsSuite } from './views/gateway-views.ts';
import { guardrailsSuite } from './views/guardrails.ts';
import { keysSuite } from './views/keys.ts';
import { logSuite } from './views/log.ts';
import { overviewSuite } from './views/overview.ts';
import { playgroundSuite } from './views/playground.ts';
import { restartSuite } from './views/restart.ts';
import { signInSuite } from './views/sign-in.ts';
import { startSuite } from './views/start.ts';

/**
 * All views in one browser: a browser, a gateway and a history take longer to open than most tests take. Without a
 * browser they are left out, and the title says why.
 */
describe.skipIf(noBrowserReason !== undefined)(
  `the console${noBrowserReason === undefined ? '' : ` (${noBrowserReason})`}`,
  () => {
    let fresh: ConsoleUnderTest;
    let used: ConsoleUnderTest;
    beforeAll(async () => {
      const browser = await openBrowser();
      fresh = await openConsole(browser, 'empty');
      used = await openConsole(browser, 'history');
    });
    afterAll(async () => {
      await used.browser.close();
      await Promise.all([fresh, used].map(({ gateway }) => gateway.close()));
    });

    // With a gateway that nobody has used.
    for (const suite of [startSuite, signInSuite, filesAndAppsSuite]) suite(() => fresh);

    for (const suite of [
      overviewSuite,
      analyticsSuite,
      logSuite,
      keysSuite,
      accessSuite,
      guardrailsSuite,
      playgroundSuite,
      allViewsSuite,
    ]) {
      suite(() => used);
    }

    // With gateways of their own.
    for (const suite of [gatewayViewsSuite, restartSuite]) suite(() => used);
  },
);
