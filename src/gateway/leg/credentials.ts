import { type Credential, parseCredential } from '../../catalog/providers/credential.ts';
import { RecentMap } from '../../kit/collections/recent-map.ts';
import type { Log } from '../../kit/log/log.ts';
import type { ByokCredential } from '../../ports/tenancy/byok-credentials.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';

const MAX_OPENED_CREDENTIALS = 1000;

/** Opens BYOK credentials, each once until it changes. */
export class CredentialOpener {
  readonly #opened = new RecentMap<string, Credential>(MAX_OPENED_CREDENTIALS);
  readonly #warn: Log['warn'];

  constructor(warn: Log['warn']) {
    this.#warn = warn;
  }

  /** The credential for a candidate. Throws an UpstreamFailure if a stored credential cannot be used. */
  open({ endpoint: { provider }, access }: Candidate): Credential | undefined {
    return access.kind === 'shared' ? provider.credential : this.#openByok(access.credential, provider);
  }

  #reveal(byok: ByokCredential, provider: string): string {
    try {
      return byok.reveal();
    } catch (error) {
      this.#warn('a stored credential cannot be decrypted; store it anew or delete it', {
        id: byok.id,
        error,
      });
      throw unusable(provider);
    }
  }

  #openByok(byok: ByokCredential, provider: Candidate['endpoint']['provider']): Credential {
    const name = `${byok.id} ${byok.version} ${provider.auth}`;
    const kept = this.#opened.get(name);
    if (kept !== undefined) return kept;
    const reading = parseCredential(provider.auth, this.#reveal(byok, provider.name));
    if (!reading.ok) throw unusable(provider.name);
    this.#opened.set(name, reading.credential);
    return reading.credential;
  }
}

function unusable(provider: string): UpstreamFailure {
  return new UpstreamFailure(
    'upstream-unavailable',
    'Provider returned error: the stored credential cannot be used; store it anew',
    0,
    { metadata: { provider_name: provider, error_type: 'provider_unavailable' } },
  );
}
