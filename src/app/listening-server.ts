import { dirname } from 'node:path';
import {
  type Certificate,
  readCertificate,
  type TlsFiles,
  tlsFilesIn,
  watchCertificate,
} from '../config/certificate.ts';
import { configurationErrorOf, type LoadedConfiguration } from '../config/load.ts';
import { readConsoleFiles } from '../http/console/console-files.ts';
import type { HttpBasics, HttpTimes } from '../http/dependencies.ts';
import { createHttpServer } from '../http/http-server.ts';
import { randomIds } from '../kit/ids.ts';
import type { Log } from '../kit/log/log.ts';
import { expositionOf } from '../kit/metrics/exposition.ts';
import type { MetricFamily } from '../kit/metrics/metric-family.ts';
import { CONSOLE_FOLDER } from '../kit/program-files.ts';
import { systemClock } from '../kit/time/clock.ts';
import type { RunningSettings } from '../settings/running-settings.ts';
import type { Closers } from './closers.ts';

export interface ServerOptions {
  readonly times?: Partial<HttpTimes>;
  /** Sockets that listen on the port, where Node can share one; 1 by default. */
  readonly listeningSockets?: number;
  readonly forward?: HttpBasics['forward'];
}

/** Source of `/metrics`: replaced once the installation is open. */
export interface ShownMetrics {
  families: readonly MetricFamily[];
  refresh: () => Promise<void>;
}

export type ListeningServer = ReturnType<typeof createHttpServer>;

/** A server that answers probes: it serves once the installation is open. */
export function openServer(
  loaded: LoadedConfiguration,
  settings: RunningSettings,
  metrics: ShownMetrics,
  { times, listeningSockets, forward }: ServerOptions,
  log: Log,
  closers: Closers,
): ListeningServer {
  const tls = openCertificate(loaded);
  const server = createHttpServer({
    settings: () => settings.latest.http,
    ids: randomIds,
    clock: systemClock,
    log,
    metrics: async () => {
      await metrics.refresh();
      return expositionOf(metrics.families);
    },
    ...(times !== undefined && { times }),
    ...(listeningSockets !== undefined && { listeningSockets }),
    forward,
    certificate: tls?.certificate,
    console: readConsoleFiles(CONSOLE_FOLDER, settings.latest.http.basePath),
  });
  if (tls !== undefined) {
    const renewal = watchCertificate(
      tls.files,
      tls.certificate,
      (renewed) => server.renewCertificate(renewed),
      log,
    );
    closers.add('the watch of the certificate', renewal);
  }
  return server;
}

/** The certificate of `server.tls`; undefined = plain HTTP. Throws a ConfigurationError if it cannot be used. */
function openCertificate({
  config,
  watchedFile,
}: LoadedConfiguration): { readonly files: TlsFiles; readonly certificate: Certificate } | undefined {
  const { tls } = config.server;
  if (tls === null) return undefined;
  const files = tlsFilesIn(dirname(watchedFile), tls);
  const reading = readCertificate(files);
  if (!reading.ok) throw configurationErrorOf(reading.problems, watchedFile);
  return { files, certificate: reading.certificate };
}
