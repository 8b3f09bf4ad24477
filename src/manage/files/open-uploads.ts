import { GatewayError } from '../../ir/errors.ts';
import {
  FILE_SCOPES,
  type FileOwner,
  type FileQuotas,
  type FileScope,
  type FileUsage,
  type PassedQuota,
  passedQuota,
} from '../../ports/content/files.ts';

type Usage = Readonly<Record<FileScope, FileUsage>>;

const NOTHING: FileUsage = { bytes: 0, files: 0 };

export interface OpenUpload {
  /** Counts bytes that arrive. Throws 413 if the quotas leave no room for them. */
  grow(bytes: number): void;
  /** The upload has ended, kept or not. */
  end(): void;
}

/**
 * Uploads of this process that are being written. They count against the quotas like stored files, so that uploads at
 * the same time do not fill the disk together before the first of them is stored.
 */
export class OpenUploads {
  readonly #ids = new Set<string>();
  readonly #usage = new Map<string, FileUsage>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Begins an upload. `stored`: the usage of its owner by stored files. Throws 413 if nothing more may be stored. */
  begin(id: string, owner: FileOwner, stored: Usage, quotas: FileQuotas): OpenUpload {
    // One byte, because a file has at least one.
    this.#require(owner, stored, { bytes: 1, files: 1 }, quotas);
    this.#ids.add(id);
    this.#add(owner, { bytes: 0, files: 1 });
    let bytes = 0;
    return {
      grow: (more) => {
        this.#require(owner, stored, { bytes: more, files: 0 }, quotas);
        bytes += more;
        this.#add(owner, { bytes: more, files: 0 });
      },
      end: () => {
        if (this.#ids.delete(id)) this.#add(owner, { bytes: -bytes, files: -1 });
      },
    };
  }

  #require(owner: FileOwner, stored: Usage, more: FileUsage, quotas: FileQuotas): void {
    const usage = Object.fromEntries(
      FILE_SCOPES.map((scope) => {
        const open = this.#usage.get(nameOf(scope, owner)) ?? NOTHING;
        return [scope, { bytes: stored[scope].bytes + open.bytes, files: stored[scope].files + open.files }];
      }),
    ) as unknown as Usage;
    const passed = passedQuota(usage, more, quotas);
    if (passed !== undefined) throw quotaPassed(passed);
  }

  #add(owner: FileOwner, more: FileUsage): void {
    for (const scope of FILE_SCOPES) {
      const name = nameOf(scope, owner);
      const open = this.#usage.get(name) ?? NOTHING;
      const sum = { bytes: open.bytes + more.bytes, files: open.files + more.files };
      if (sum.files === 0) this.#usage.delete(name);
      else this.#usage.set(name, sum);
    }
  }
}

function nameOf(scope: FileScope, { accountId, workspaceId, keyHash }: FileOwner): string {
  return `${scope} ${{ key: keyHash, workspace: workspaceId, account: accountId }[scope]}`;
}

export function quotaPassed({ scope, unit, limit, used }: PassedQuota): GatewayError {
  return new GatewayError(
    'payload-too-large',
    `file: no room in the quota of the ${scope} for stored files: ${used} of ${limit} ${unit} are used ` +
      `(limits.files.per_${scope}). Delete files, or ask the operator for more.`,
    { metadata: { quota: { scope, unit, limit, used } } },
  );
}
