import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clickhouseForTests } from '../clickhouse/clickhouse-server.ts';
import { openTestGateway, type TestGateway } from '../e2e/harness.ts';
import { openPage } from './browser.ts';
import { noBrowserReason, openBrowser } from './chromium.ts';
import { signedInReader } from './console-under-test.ts';

/** Views that ask the analytics store, and what they show when it answers. */
const VIEWS = [
  ['/?from=-1h', '.ov-main .plot path'],
  ['/log?from=-1h', '.list [data-id]'],
  ['/analytics', '.an .plot path'],
  ['/apps', 'main :is(tr[data-index], .empty)'],
  ['/apps?of=models', 'main :is(tr[data-index], .empty)'],
  ['/models', 'main tr[data-index], main tbody tr'],
] as const;

const BROKEN = /analytics do not answer/;

/** Longer than any view waits before it asks again, milliseconds. */
const ASKED_AGAIN_MS = 20_000;

/** A busy machine takes seconds for an answer. */
const LOOKS_BETWEEN_JUMPS = 8;

const clickhouse = await clickhouseForTests();
const reason = noBrowserReason === undefined ? '' : ` (${noBrowserReason})`;

describe.skipIf(noBrowserReason !== undefined)(`an analytics store that is really broken${reason}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  it('is named by every view while another process holds its file, and read when it is free', async () => {
    let holder: ChildProcess | undefined;
    const gateway = await openTestGateway(
      {},
      {
        prepare: async (dataDir) => {
          holder = await holdFile(join(dataDir, 'events.duckdb'));
        },
      },
    );
    await generate(gateway);
    await breaksAndRecovers(gateway, async () => {
      holder?.kill('SIGKILL');
      if (holder?.exitCode === null) await once(holder, 'exit');
    });
    await gateway.close();
  }, 300_000);

  it.skipIf(clickhouse === undefined)(
    'is named by every view while ClickHouse is down, and read when it is back',
    async () => {
      const server = clickhouse as NonNullable<typeof clickhouse>;
      const gateway = await openTestGateway({}, { env: { CLICKHOUSE_URL: server.newDatabase() } });
      await generate(gateway);
      await server.kill();
      await breaksAndRecovers(gateway, () => server.start());
      await gateway.close();
    },
    300_000,
  );

  it('is filled again after its file was damaged', async () => {
    const gateway = await openTestGateway(
      {},
      {
        prepare: async (dataDir) => writeFileSync(join(dataDir, 'events.duckdb'), 'x'.repeat(100_000)),
      },
    );
    await generate(gateway);
    const reader = await signedInReader(browser, gateway, gateway.managementKey);
    await reader.clock.install();
    await inViews(reader, async (page, part) => {
      await shown(page, part);
    });
    expect(gateway.logText()).toContain('cannot be read and is now');
    await reader.close();
    await gateway.close();
  }, 300_000);

  /** All views say that the store is broken; after it was mended they show what they are for. */
  async function breaksAndRecovers(gateway: TestGateway, mend: () => Promise<void>): Promise<void> {
    const reader = await signedInReader(browser, gateway, gateway.managementKey);
    await reader.clock.install();
    let isMended: Promise<void> | undefined;
    const broken = new Set<string>();
    await inViews(reader, async (page, part) => {
      await page.getByText(BROKEN).first().waitFor();
      broken.add(page.url());
      while (broken.size < VIEWS.length) await page.waitForTimeout(20);
      isMended ??= mend();
      await isMended;
      await shown(page, part);
    });
    await reader.close();
  }
});

/**
 * Lets the view ask again until it shows its part, and says nothing of a failure. Its clock jumps only now and then:
 * with each minute its questions are new ones, and those under way are given up.
 */
async function shown(page: Page, part: string): Promise<void> {
  let looks = 0;
  await expect
    .poll(
      async () => {
        if (looks++ % LOOKS_BETWEEN_JUMPS === 0) await page.clock.fastForward(ASKED_AGAIN_MS);
        return (await page.locator(part).count()) > 0 && (await page.getByText(BROKEN).count()) === 0;
      },
      { timeout: 120_000, interval: 500 },
    )
    .toBe(true);
}

/** Does the same in all views at once. A failure names the views that it happened in. */
async function inViews(
  reader: BrowserContext,
  act: (page: Page, part: string) => Promise<void>,
): Promise<void> {
  const failed = await Promise.all(
    VIEWS.map(async ([address, part]) => {
      const { page } = await openPage(reader);
      await page.goto(address);
      return act(page, part).then(
        () => [],
        (error: Error) => [`${address}: ${error.message.split('\n')[0]}`],
      );
    }),
  );
  expect(failed.flat()).toEqual([]);
}

async function generate(gateway: TestGateway): Promise<void> {
  for (let sent = 0; sent < 3; sent++) {
    const response = await gateway.post('/chat/completions', {
      model: 'simulator/standard',
      messages: [{ role: 'user', content: 'Hello' }],
    });
    expect(response.status).toBe(200);
    await response.text();
  }
}

/** Opens a DuckDB file in a process of its own, which locks it. */
async function holdFile(file: string): Promise<ChildProcess> {
  const script = `require('@duckdb/node-api').DuckDBInstance.create(${JSON.stringify(file)})
    .then((held) => { globalThis.held = held; console.log('held'); setInterval(() => held, 1000); })`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
  return child;
}
