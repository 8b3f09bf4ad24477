import type { Provider } from '../../catalog/catalog.ts';

/** The headers that carry a credential, per way of sending it. */
const AUTHORIZATION: Readonly<Record<Provider['auth'], (credential: string) => Record<string, string>>> = {
  bearer: (credential) => ({ authorization: `Bearer ${credential}` }),
  'x-api-key': (credential) => ({ 'x-api-key': credential }),
  none: () => ({}),
};

/** The headers that authorize a call; none without a credential. */
export function authorize(
  auth: Provider['auth'],
  credential: string | undefined,
): Readonly<Record<string, string>> {
  return credential === undefined ? {} : AUTHORIZATION[auth](credential);
}
