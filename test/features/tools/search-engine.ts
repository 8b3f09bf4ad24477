import type { FakeUpstream } from '../../kit/fakes/fake-upstream.ts';

/** Members of a configuration by which a gateway searches with a fake of searxng on this machine. */
export function searchingWith({ port }: Pick<FakeUpstream, 'port'>) {
  return {
    egress: { allow: [`127.0.0.1:${port}`] },
    plugins: { web: { engines: { searxng: { url: `http://127.0.0.1:${port}` } } } },
  };
}
