import { createServer } from 'node:net';
import type { Runtime } from '../config/runtime.ts';
import type { DoctorServerView, DoctorView } from '../control/doctor-view.ts';
import { programVersion } from '../kit/program-version.ts';
import { countText } from '../kit/text/count-text.ts';
import { bytesText, durationText } from '../kit/text/quantities.ts';
import { type CheckFinding, fine, problem, warning } from './finding.ts';
import type { Situation } from './situation.ts';

/** A longer event loop delay is a warning: all requests wait for it. */
const MAX_LOOP_DELAY_SECONDS = 1;

/** A longer queue of a stage is a warning, in records. */
const MAX_LAG = 10_000;

/** Reports the state of the running gateway, or whether one could listen. */
export async function checkServer({ holder, runtime, directory }: Situation): Promise<CheckFinding[]> {
  switch (holder.kind) {
    case 'silent':
    case 'unknown':
      return [];
    case 'process':
      return ofView(holder.view);
    case 'none':
      return directory.kind === 'unusable' ? [] : [await ofPort(runtime)];
  }
}

function ofView({ server, lag }: DoctorView): CheckFinding[] {
  if (server === null) return [fine('another command has the data directory; no gateway runs on it')];
  return [
    running(server),
    ...version(server),
    ...delay(server),
    ...coolDowns(server),
    ...behind(server),
    ...lags(lag),
  ];
}

function running(server: DoctorServerView): CheckFinding {
  const {
    state,
    uptime_seconds,
    memory_bytes,
    processes = 1,
    requests_in_flight,
    loop_delay_seconds,
  } = server;
  const what =
    `${state} for ${durationText(uptime_seconds * 1000)}, ${bytesText(memory_bytes)} of memory` +
    `${processes === 1 ? '' : ` in ${processes} processes`}, ${requests_in_flight} requests in flight`;
  const figures = {
    uptime_seconds,
    memory_bytes,
    processes,
    requests_in_flight,
    generations_in_flight: server.generations_in_flight,
    loop_delay_seconds,
  };
  return state === 'ready' ? fine(what, figures) : warning(what, STATE_MENDS[state], figures);
}

const STATE_MENDS: Readonly<Record<Exclude<DoctorServerView['state'], 'ready'>, string>> = {
  starting: 'wait, and read its log',
  draining: 'it exits after the last answer; start it again then',
};

function version({ version: its }: DoctorServerView): CheckFinding[] {
  const ours = programVersion();
  if (its === ours) return [];
  return [warning(`the gateway runs version ${its}, this command is version ${ours}`, 'restart the gateway')];
}

function delay({ loop_delay_seconds: seconds }: DoctorServerView): CheckFinding[] {
  if (seconds <= MAX_LOOP_DELAY_SECONDS) return [];
  return [
    warning(
      `the event loop was blocked for ${durationText(seconds * 1000)} within the last two minutes`,
      'check whether the machine has enough processors and memory for everything that runs on it',
    ),
  ];
}

const MAX_LISTED_ENDPOINTS = 10;

function coolDowns({ cooling = [] }: DoctorServerView): CheckFinding[] {
  const listed = cooling.slice(0, MAX_LISTED_ENDPOINTS).map(({ model, tag, accounts, seconds_left }) => {
    const whom =
      accounts === 0 ? 'everyone' : `${countText(accounts, 'account')} alone, whose requests failed`;
    return warning(
      `${model} at ${tag} cools down for ${whom}; ${durationText(seconds_left * 1000)} left`,
      accounts === 0
        ? 'check the provider, and read the log for the failures'
        : 'other accounts are served; read the log for what these requests have in common',
    );
  });
  const others = cooling.length - listed.length;
  if (others === 0) return listed;
  return [
    ...listed,
    warning(`${countText(others, 'more endpoint cools', 'more endpoints cool')} down`, 'check the providers'),
  ];
}

/** Destinations and classifiers that are listed one by one. */
const MAX_LISTED_FOLLOWERS = 10;

function behind({ behind: followers = [] }: DoctorServerView): CheckFinding[] {
  const listed = followers.slice(0, MAX_LISTED_FOLLOWERS).map((each) => {
    const { follower, problem: cause, problem_seconds, waiting, dropped } = each;
    const figures = { problem_seconds, waiting, dropped };
    const left = `${countText(waiting, 'generation waits', 'generations wait')} for it, ${dropped} were dropped`;
    return cause === null
      ? warning(`${follower} is behind: ${left}`, 'check whether it takes requests fast enough', figures)
      : warning(
          `${follower} has had a problem for ${durationText(problem_seconds * 1000)}: ${cause}; ${left}`,
          'mend it, or disable it; POST /observability/destinations/{id}/test tries a destination at once',
          figures,
        );
  });
  const others = followers.length - listed.length;
  if (others === 0) return listed;
  return [
    ...listed,
    warning(
      `${countText(others, 'more destination or classifier has', 'more have')} a problem`,
      'read the log',
    ),
  ];
}

function lags(lag: DoctorView['lag']): CheckFinding[] {
  const figures = Object.fromEntries(Object.entries(lag).map(([stage, count]) => [`${stage}_lag`, count]));
  const shown = Object.entries(lag).map(([stage, count]) => `${stage} ${count}`);
  const what = `waiting to be written: ${shown.join(', ')}`;
  if (Object.values(lag).every((count) => count <= MAX_LAG)) return [fine(what, figures)];
  return [warning(what, 'read its log for errors of the database or the disk', figures)];
}

/** Checks that the listen address is free. */
async function ofPort({ host, port }: Runtime): Promise<CheckFinding> {
  if (port === 0) return fine('no gateway runs on the data directory');
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, host, resolve);
    });
    return fine(`no gateway runs on the data directory; ${host}:${port} is free for one`);
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    return problem(
      `no gateway runs on the data directory, and none can listen on ${host}:${port} (${code})`,
      code === 'EADDRINUSE'
        ? 'stop the process that listens there, or choose another port with --port or PORT; if it is your ' +
            'gateway, name its data directory with --data-dir'
        : 'choose another address with --host or HOST, or another port with --port or PORT',
    );
  } finally {
    server.close();
  }
}
