import { existsSync } from 'node:fs';
import { openGateway } from '../../app/main.ts';
import { requireConfiguration } from '../../config/load.ts';
import { problemFields, problemLine } from '../../config/problem.ts';
import type { Flags } from '../../config/runtime.ts';
import { openStderrLog } from '../../kit/log/log.ts';
import { CONSOLE_FOLDER } from '../../kit/program-files.ts';
import { loadOptions } from '../../settings/load-options.ts';
import { watchStop } from '../stop-watchdog.ts';
import { baseUrl, firstStartJson, firstStartText } from '../terminal/first-start.ts';

export interface ServeOptions {
  readonly flags: Flags;
  /** Whether the first start prints its keys as JSON. */
  readonly asJson: boolean;
}

/**
 * Sockets that listen on the port: Node accepts one connection from each in a turn of the event loop. Each further
 * socket adds some microseconds to the accept of a single connection.
 */
const LISTENING_SOCKETS = 32;

/** Opens a gateway, prints its address, and closes it on SIGTERM or SIGINT. Rejects when it cannot start. */
export async function startGateway({ flags, asJson }: ServeOptions): Promise<void> {
  const load = loadOptions(flags);
  const loaded = requireConfiguration(load);
  const log = openStderrLog(loaded.runtime);
  for (const warning of loaded.warnings) log.warn(problemLine(warning), problemFields(warning, loaded.file));
  for (const { slug, variables, switchesOn } of loaded.providerKeys) {
    const effect = switchesOn ? 'switched on' : 'given its key';
    log.info(`${slug} is ${effect} by ${variables.join(', ')}`);
  }
  const gateway = await openGateway({ loaded, load, log, listeningSockets: LISTENING_SOCKETS });
  const { base_path: basePath, tls } = loaded.config.server;
  const url = baseUrl({ host: gateway.host, port: gateway.port, basePath, isTls: tls !== null });
  const { firstKeys, exampleModel } = gateway;
  if (firstKeys !== undefined) {
    process.stdout.write(
      asJson
        ? firstStartJson(firstKeys, url)
        : firstStartText(firstKeys, {
            url,
            dataDir: loaded.runtime.dataDir,
            console: consoleAt(url),
            model: exampleModel,
            node: process.versions.node,
          }),
    );
  }
  log.info('ready', { address: url, data_dir: loaded.runtime.dataDir, config: loaded.file });

  let isStopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (isStopping) return;
    isStopping = true;
    log.info('draining', { signal });
    const drainMs = gateway.drainMs();
    // SIGINT comes from a person at a terminal, who waits.
    const graceMs = signal === 'SIGTERM' ? gateway.graceMs() : 0;
    const watchdog = watchStop(graceMs + drainMs, loaded.runtime.dataDir);
    const leaving = graceMs > 0 ? gateway.leave() : Promise.resolve();
    leaving
      .then(() => gateway.close(drainMs, (what) => watchdog.closing(what)))
      .then(
        () => {
          log.info('stopped');
          process.exit(0);
        },
        (error: unknown) => {
          log.error('stopping failed', { error });
          process.exit(1);
        },
      );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // A package runner (npx) puts a shell in between that forwards no signals: stop when that parent is gone.
  if (loaded.environment.npm_execpath !== undefined) onParentGone(() => stop('SIGTERM'));
}

const PARENT_CHECK_MS = 500;

function onParentGone(react: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    react();
  }, PARENT_CHECK_MS);
  timer.unref();
}

/** Address of the console of a gateway; undefined if it was not built. */
function consoleAt(url: string): string | undefined {
  return existsSync(CONSOLE_FOLDER) ? new URL('/', url).href : undefined;
}
