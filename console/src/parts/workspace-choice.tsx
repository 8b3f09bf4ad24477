import { addressWith, go, useAddress } from '../address/address.ts';
import { useWorkspaces } from '../api/workspaces.ts';

/** Chooses the workspace of the view, in the address. `all`: what it says while none is chosen. */
export function WorkspaceChoice({ all }: { readonly all: string }) {
  const address = useAddress();
  const workspaces = useWorkspaces();
  return (
    <select
      class="in-t ws-choice"
      aria-label="Workspace"
      value={address.query.get('workspace') ?? ''}
      onChange={({ currentTarget: { value } }) =>
        go(addressWith(address, { workspace: value === '' ? null : value }))
      }
    >
      <option value="">{all}</option>
      {(workspaces.data ?? []).map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}
