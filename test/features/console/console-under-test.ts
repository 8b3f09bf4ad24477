import type { Browser, BrowserContext } from 'playwright-core';
import { openInstallation } from '../../../src/app/installation.ts';
import { eventHistory, HISTORY_START_MS } from '../../kit/builders/event-history.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';
import { type ConsolePage, openPage, type PageOptions, setWindow } from './browser.ts';
import { addSession, openReader } from './chromium.ts';
import { fillLargeInstallation, LARGE_CONFIGURATION } from './large-installation.ts';

/** One browser, and one gateway with a history: all views are tried on them. */
export interface ConsoleUnderTest {
  readonly browser: Browser;
  readonly gateway: TestGateway;
  readonly manage: Management;
  /** A page of the reader with the management key. Pages share cookies and storage. */
  opened(address: string, options?: PageOptions): Promise<ConsolePage>;
}

const DAY_MS = 86_400_000;
const HISTORY_DAYS = 2;
const HISTORY_EVENTS = 2_000;

const CONFIGURATION = {
  limits: { analytics_per_minute: 100_000 },
  workspaces: [
    {
      name: 'Declared',
      slug: 'declared',
      keys: [{ name: 'from-file', hash: 'ab'.repeat(32), limit: 5 }],
    },
  ],
};

/**
 * `empty`: nobody has used the gateway; `history`: it has a history, and a file that declares things; `large`: it has
 * a longer history, and very many keys.
 */
export type ConsoleKind = 'empty' | 'history' | 'large';

const GATEWAYS: Readonly<Record<ConsoleKind, () => Promise<TestGateway>>> = {
  empty: () => openTestGateway(),
  history: () => openTestGateway(CONFIGURATION, { prepare: writeHistory }),
  large: () => openTestGateway(LARGE_CONFIGURATION, { prepare: fillLargeInstallation }),
};

export async function openConsole(browser: Browser, kind: ConsoleKind): Promise<ConsoleUnderTest> {
  const gateway = await GATEWAYS[kind]();
  const reader = await signedInReader(browser, gateway, gateway.managementKey);
  return {
    browser,
    gateway,
    manage: managementOf(gateway),
    opened: pagesOf(reader),
  };
}

/** Opens pages of a reader. Those that were closed are used again: a new one takes twice as long. */
function pagesOf(reader: BrowserContext): ConsoleUnderTest['opened'] {
  const free: ConsolePage[] = [];
  return async (address, options) => {
    const used = free.pop() ?? (await openPage(reader));
    const { page, problems, refusals } = used;
    await setWindow(page, options);
    await page.goto(address);
    return {
      page,
      problems,
      refusals,
      async close() {
        problems.length = 0;
        refusals.length = 0;
        // Questions that the page still asks may be under way.
        await page.unrouteAll({ behavior: 'ignoreErrors' });
        free.push(used);
      },
    };
  };
}

/** Another reader, who has a session already. */
export async function signedInReader(
  browser: Browser,
  gateway: TestGateway,
  key: string,
): Promise<BrowserContext> {
  const reader = await openReader(browser, gateway.origin);
  await addSession(reader, gateway, key);
  return reader;
}

/** Two days until an hour ago, as an import. */
async function writeHistory(dataDir: string): Promise<void> {
  const installation = await openInstallation({ dataDir, keyPrefix: 'sk-sb-v1-' });
  const { id: accountId } = await installation.accounts.ensureFirst();
  const shiftMs = Date.now() - HISTORY_DAYS * DAY_MS - DAY_MS / 24 - HISTORY_START_MS;
  await installation.eventStore.append(
    [...eventHistory(HISTORY_EVENTS, HISTORY_DAYS)].map((event) => ({
      ...event,
      createdAtMs: event.createdAtMs + shiftMs,
      accountId,
      isImported: true,
    })),
  );
  await installation.close();
}
