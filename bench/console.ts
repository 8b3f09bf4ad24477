import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { openInstallation } from '../src/app/installation.ts';
import type { GenerationEvent } from '../src/ports/events/events.ts';
import { type BuiltGateway, startBuiltGateway } from '../test/features/console/built-gateway.ts';
import { addSession, noBrowserReason, openBrowser, openReader } from '../test/features/console/chromium.ts';
import { eventHistory, HISTORY_START_MS } from '../test/kit/builders/event-history.ts';
import { writeFilledBundle } from '../test/kit/builders/filled-bundle.ts';
import { insertKeys } from '../test/kit/builders/many-keys.ts';

/**
 * The console in a browser, on a gateway with a long history and many keys: how soon views are drawn, how a long list
 * scrolls, and what an idle page asks for. `node scripts/bench.mjs console [MILLIONS] [THOUSANDS OF KEYS]`. With
 * BENCH_DATA=FOLDER the installation is kept there for the next run.
 */

const DAY_MS = 86_400_000;
const DAYS = 30;
const ROUNDS = 7;
const IDLE_SECONDS = 30;
const SCROLLED_ROWS = 10_000;
const ROW_PIXELS = 32;

const generations = Number(process.argv[2] ?? 1) * 1_000_000;
const keys = Number(process.argv[3] ?? 100) * 1_000;
const kept = process.env.BENCH_DATA;
const folder = kept ?? mkdtempSync(join(tmpdir(), 'signalbox-bench-'));

/** Notes when a part is there and painted, milliseconds after the page began to load. */
const WATCH = `window.painted = (part, isNew = () => true) => new Promise((resolve) => {
  const look = () => requestAnimationFrame(() => {
    if (document.querySelector(part) !== null && document.querySelector('.sk-rows') === null && isNew())
      setTimeout(() => resolve(performance.now()));
    else look();
  });
  look();
});`;

if (noBrowserReason !== undefined) throw new Error(noBrowserReason);
let gateway: BuiltGateway | undefined;
const browser = await openBrowser();
try {
  if (!existsSync(join(folder, 'events.duckdb'))) await fill();
  gateway = await startBuiltGateway({ dataDir: folder });
  console.log(`${generations} generations of ${DAYS} days, ${keys} keys; load ${loadText()}`);
  const reader = await openReader(browser, gateway.origin);
  await addSession(reader, gateway, gateway.managementKey);
  const page = await reader.newPage();
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.addInitScript(WATCH);
  await views(page);
  await filters(page);
  await idle(page, 'Overview', '/');
  await idle(page, 'Log, live', '/log');
  await scroll(page, 'Log', '/log?from=-30d', 'section.list');
  await scroll(page, 'Keys', '/keys', null);
  console.log(`load at the end ${loadText()}`);
} finally {
  await browser.close();
  await gateway?.close();
  if (kept === undefined) rmSync(folder, { recursive: true, force: true });
}

/** Views that are opened by their address, with an empty memory of the page and scripts in the browser's cache. */
async function views(page: Page): Promise<void> {
  const opened = (title: string, address: string, part: string) =>
    timed(`${title}, opened by its address`, async () => {
      await page.goto(address, { waitUntil: 'commit' });
      return page.evaluate<number>(`painted(${JSON.stringify(part)})`);
    });
  await opened('Overview', '/', '.ov-main .plot path');
  await opened('Overview of 30 days', '/?from=-30d', '.ov-main .plot path');
  await opened('Log', '/log', '.list [data-id]');
  await opened('Log of 30 days', '/log?from=-30d', '.list [data-id]');
  await opened('Keys', '/keys', 'main tr[data-index]');
  await opened('Keys, searched', `/keys?search=number-${keys - 1}`, 'main tr[data-index]');
  const clicked = (title: string, from: string, address: string, part: string) =>
    timed(`${title}, from another view`, async () => {
      await page.goto(from);
      await page.evaluate('painted("main")');
      await sleep(1_000);
      return page.evaluate<number>(stepTo(address, part));
    });
  await clicked('Overview', '/files', '/', '.ov-main .plot path');
  await clicked('Log', '/files', '/log', '.list [data-id]');
}

/** From the choice of a filter until its rows are there, over all days. */
async function filters(page: Page): Promise<void> {
  const all = '/log?from=-30d&live=0';
  const filtered = (title: string, change: string, part = '.list [data-id]') =>
    timed(`log of 30 days, ${title}`, async () => {
      await page.goto(all);
      await page.evaluate('painted(".list [data-id]")');
      await sleep(500);
      return page.evaluate<number>(stepTo(`${all}&${change}`, part));
    });
  await filtered('failed ones', 'state=failed');
  await filtered('one model, slower than 29 s', 'model=acme/model-3&min_seconds=29');
  await filtered('one provider', 'provider=Provider+2');
  await filtered('dearer than $0.0049', 'min_cost=0.0049');
  await filtered('a session', 'search=session-4000');
  await filtered('a text found nowhere, until that is known', 'search=of-nobody', '.list .empty');
  await filtered('longest first', 'sort=-duration_ms');
}

/** Goes to an address as a link does, and says how long it took until the part was there. */
function stepTo(address: string, part: string): string {
  return `(async () => {
    const before = document.querySelector('.list [data-id]');
    const startedMs = performance.now();
    history.pushState(null, '', ${JSON.stringify(address)});
    dispatchEvent(new PopStateEvent('popstate'));
    return (await painted(${JSON.stringify(part)}, () => before === null || !before.isConnected)) - startedMs;
  })()`;
}

async function timed(title: string, measure: () => Promise<number>): Promise<void> {
  await measure();
  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round++) took.push(await measure());
  took.sort((one, other) => one - other);
  const [least = 0] = took;
  console.log(
    `${title}: ${took[Math.floor(ROUNDS / 2)]?.toFixed(0)} ms (least ${least.toFixed(0)}, most ${took.at(-1)?.toFixed(0)})`,
  );
}

/** Requests of a page that nobody touches. */
async function idle(page: Page, title: string, address: string): Promise<void> {
  await page.goto(address);
  await sleep(3_000);
  let sent = 0;
  const count = (): void => {
    sent++;
  };
  page.on('request', count);
  await sleep(IDLE_SECONDS * 1_000);
  page.off('request', count);
  console.log(`${title}, idle: ${(sent / IDLE_SECONDS).toFixed(2)} requests/s`);
}

/** Scrolls through a long list, ten rows a frame, and waits for the gateway where it must. */
async function scroll(page: Page, title: string, address: string, scroller: string | null): Promise<void> {
  await page.goto(address);
  await page.evaluate('painted("[data-id], tr[data-index]")');
  const { longestMs, frames, tookMs, rows } = await page.evaluate<Record<string, number>>(`(async () => {
    const element = ${scroller === null ? 'document.scrollingElement' : `document.querySelector('${scroller}')`};
    const endPixels = ${SCROLLED_ROWS * ROW_PIXELS};
    const startedMs = performance.now();
    let [longestMs, frames, lastMs] = [0, 0, startedMs];
    while (element.scrollTop < endPixels && performance.now() - startedMs < 120_000) {
      const nowMs = await new Promise((resolve) => requestAnimationFrame(() => resolve(performance.now())));
      longestMs = Math.max(longestMs, nowMs - lastMs);
      lastMs = nowMs;
      frames++;
      element.scrollTop += ${10 * ROW_PIXELS};
    }
    return { longestMs, frames, tookMs: lastMs - startedMs, rows: element.scrollTop / ${ROW_PIXELS} };
  })()`);
  console.log(
    `${title}, scrolled: ${Math.round(rows ?? 0)} rows in ${((tookMs ?? 0) / 1_000).toFixed(1)} s, ${frames} frames, the longest ${Math.round(longestMs ?? 0)} ms`,
  );
}

function loadText(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}

/** An installation with a history of imported usage until now, and keys. */
async function fill(): Promise<void> {
  const installation = await openInstallation({ dataDir: folder, keyPrefix: 'sk-sb-v1-' });
  const account = await installation.accounts.ensureFirst();
  const file = join(folder, 'bundle');
  await writeFilledBundle(file, history(account.id));
  await installation.eventStore.addBundle({ file });
  rmSync(file, { force: true });
  const { workspaces } = await installation.tenancy.listWorkspaces(account.id, { offset: 0, limit: 1 });
  await installation.close();
  insertKeys(folder, { count: keys, accountId: account.id, workspaceId: workspaces[0]?.id ?? '' });
}

function* history(accountId: string): Generator<GenerationEvent> {
  const shiftMs = Date.now() - DAYS * DAY_MS - HISTORY_START_MS;
  for (const event of eventHistory(generations, DAYS)) {
    yield { ...event, accountId, createdAtMs: event.createdAtMs + shiftMs, isImported: true };
  }
}
