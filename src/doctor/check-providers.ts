import type { ProviderView } from '../control/provider-view.ts';
import { durationText } from '../kit/text/quantities.ts';
import { type CheckFinding, fine, problem, warning } from './finding.ts';
import type { Situation } from './situation.ts';

const MENDS: Readonly<Record<string, string>> = {
  'connection refused': 'check that the server runs and listens there, and that base_url has the right port',
  'host name not found': 'check base_url, and that this machine can resolve names (DNS)',
  'network unreachable': 'check the network and the firewall of this machine',
  'no connection within the time limit':
    'check the network and the firewalls between this machine and the provider',
  'no answer within the time limit':
    'check the network and the firewalls between this machine and the provider',
  'certificate expired':
    'tell the operator of the address to renew it; if it is still valid elsewhere, check the clock of this machine',
  'certificate not trusted':
    'check the clock of this machine and its certificates; for an authority of your own set NODE_EXTRA_CA_CERTS',
  'TLS handshake failed': 'if the server speaks no TLS, base_url must begin with http://',
};

const OTHER_MEND = 'check that base_url is the address of the API of the provider';

/** Advice by status of the last failed call. */
const STATUS_MENDS: Readonly<Record<number, string>> = {
  400: 'read the line of the generation in the log',
  401: 'check its api_key: it is wrong, or was revoked',
  402: 'check the balance of your account at the provider',
  403: 'check that its api_key may use this model',
  404: 'check base_url, and the model of the endpoint: the provider does not know one of them',
  408: 'check the network, and the load of the provider',
  429: 'the provider limits your account: lower the load, or ask it for a higher limit',
};

const SERVER_MEND = 'check the status page of the provider, and the log of the gateway';

/** Statuses that every further call will get too. */
const LASTING: ReadonlySet<number> = new Set([401, 402, 403]);

/** Checks that every active provider answers, and how the calls of a running gateway went. */
export async function checkProviders({ providers }: Situation): Promise<CheckFinding[]> {
  const found = await providers;
  if (found === undefined) return [warning('not checked: the configuration is invalid', null)];
  if (found.length === 0) return [fine('none is on except the simulator')];
  // A provider with several addresses has one history.
  const each = new Map(found.map((view) => [view.provider, view]));
  return [...found.map(reachFinding), ...[...each.values()].flatMap(historyFindings)];
}

function reachFinding({ provider, origin, reach }: ProviderView): CheckFinding {
  if (origin === null || reach === null) {
    return warning(`${provider} has no address to call`, 'set its base_url, or a credential that names one');
  }
  if (!reach.ok)
    return problem(`${provider} at ${origin}: ${reach.problem}`, MENDS[reach.problem] ?? OTHER_MEND);
  const { status, milliseconds } = reach;
  return fine(`${provider} at ${origin} answers ${status} in ${durationText(milliseconds)}`, {
    status,
    milliseconds,
  });
}

function historyFindings(view: ProviderView): CheckFinding[] {
  return [...credentialFindings(view), ...failureFindings(view)];
}

function credentialFindings({ provider, has_credential }: ProviderView): CheckFinding[] {
  if (has_credential) return [];
  return [
    warning(
      `${provider} has no credential, so it will refuse all calls but those with a BYOK credential`,
      'set its api_key, or its environment variable',
    ),
  ];
}

function failureFindings({ provider, last_failure: failure }: ProviderView): CheckFinding[] {
  if (failure === null) return [];
  const { at, model, status, errno, is_over } = failure;
  const agoMs = Math.max(0, Date.now() - Date.parse(at));
  const what = `${provider} failed ${durationText(agoMs)} ago with ${errno ?? status} for ${model}`;
  const figures = { status, ago_ms: agoMs };
  if (is_over) return [fine(`${what}; later calls succeeded`, figures)];
  const mend = STATUS_MENDS[status] ?? SERVER_MEND;
  return [LASTING.has(status) ? problem(what, mend, figures) : warning(what, mend, figures)];
}
