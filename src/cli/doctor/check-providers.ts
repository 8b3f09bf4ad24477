import { type Finding, fine, problem, warning } from './finding.ts';
import { durationText } from './quantities.ts';
import type { ProviderReach } from './reach-providers.ts';
import type { Situation } from './situation.ts';

/** Advice by problem. */
const MENDS: Readonly<Record<string, string>> = {
  'connection refused': 'see that the server runs and listens there, and that base_url has the right port',
  'host name not found': 'see that base_url is right and that this machine can look names up (DNS)',
  'network unreachable': 'see the network and the firewall of this machine',
  'no connection within the time limit': 'see the network and the firewall between here and there',
  'no answer within the time limit': 'see the network and the firewall between here and there',
  'certificate not trusted':
    'see the clock of this machine and its certificates; for an authority of your own set NODE_EXTRA_CA_CERTS',
  'TLS handshake failed': 'see that base_url begins with http:// where the server speaks no TLS',
};

const OTHER_MEND = 'see that base_url leads to the API of the provider';

/** Checks that every active provider answers. Sends no credentials, so these are not checked. */
export async function checkProviders({ loading, reaches }: Situation): Promise<Finding[]> {
  if (!loading.ok) return [warning('not looked at, because the configuration cannot be used', null)];
  const found = await reaches;
  if (found.length === 0) return [fine('none is on but the simulator')];
  const withoutCredential = new Set(
    found.filter(({ hasCredential }) => !hasCredential).map(({ provider }) => provider),
  );
  return [
    ...found.map(findingOf),
    ...[...withoutCredential].map((provider) =>
      warning(
        `${provider} has no credential: it serves only callers who bring one`,
        `set its api_key, or its variable in the environment`,
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
