import { durationText } from '../terminal/quantities.ts';
import { type Finding, fine, problem, warning } from './finding.ts';
import type { ProviderReach } from './reach-providers.ts';
import type { Situation } from './situation.ts';

/** Advice by problem. */
const MENDS: Readonly<Record<string, string>> = {
  'connection refused': 'check that the server runs and listens there, and that base_url has the right port',
  'host name not found': 'check base_url, and that this machine can resolve names (DNS)',
  'network unreachable': 'check the network and the firewall of this machine',
  'no connection within the time limit':
    'check the network and the firewalls between this machine and the provider',
  'no answer within the time limit':
    'check the network and the firewalls between this machine and the provider',
  'certificate not trusted':
    'check the clock of this machine and its certificates; for an authority of your own set NODE_EXTRA_CA_CERTS',
  'TLS handshake failed': 'if the server speaks no TLS, base_url must begin with http://',
};

const OTHER_MEND = 'check that base_url is the address of the API of the provider';

/** Checks that every active provider answers. Sends no credentials, so these are not checked. */
export async function checkProviders({ loading, reaches }: Situation): Promise<Finding[]> {
  if (!loading.ok) return [warning('not checked: the configuration is invalid', null)];
  const found = await reaches;
  if (found.length === 0) return [fine('none is on except the simulator')];
  const withoutCredential = new Set(
    found.filter(({ hasCredential }) => !hasCredential).map(({ provider }) => provider),
  );
  return [
    ...found.map(findingOf),
    ...[...withoutCredential].map((provider) =>
      warning(
        `${provider} has no credential: it serves only callers with a credential of their own`,
        'set its api_key, or its environment variable',
      ),
    ),
  ];
}

function findingOf({ provider, origin, reach }: ProviderReach): Finding {
  if (origin === undefined || reach === undefined) {
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
