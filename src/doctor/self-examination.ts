import type { Loading } from '../config/load.ts';
import type { FindingsObject } from '../contract/gateway/configuration.ts';
import type { BucketView } from '../control/bucket-view.ts';
import { configurationView } from '../control/configuration-view.ts';
import { doctorView, type Inspected } from '../control/doctor-view.ts';
import type { ProviderView } from '../control/provider-view.ts';
import type { StoreServers } from '../ports/installation/store-facts.ts';
import { examineDirectory } from '../store/examine/examine-directory.ts';
import { examineServing } from './examine-installation.ts';
import { worstOf } from './finding.ts';

/** What a serving process knows of itself. */
export interface ExaminedProcess {
  readonly inspected: Inspected;
  readonly readConfiguration: () => Promise<Loading>;
  readonly providers: () => Promise<readonly ProviderView[]>;
  /** Null if files are in the data directory. */
  readonly bucket: () => Promise<BucketView | null>;
  readonly stores: StoreServers;
}

/** Runs the checks of `doctor` that need neither a lock nor a second connection to the database. */
export async function examineSelf({
  inspected,
  readConfiguration,
  providers,
  bucket,
  stores,
}: ExaminedProcess): Promise<Pick<FindingsObject, 'verdict' | 'findings'>> {
  const [loading, view] = await Promise.all([readConfiguration(), doctorView(inspected)]);
  const runtime = loading.ok ? loading.loaded.runtime : loading.runtime;
  const database = Promise.reject(new Error('a serving process does not examine its own database'));
  database.catch(() => {});
  const findings = await examineServing({
    loading,
    runtime,
    directory: await examineDirectory(runtime.dataDir),
    holder: { kind: 'process', view },
    configuration: configurationView(loading),
    database,
    lookAgain: () => database,
    providers: providers(),
    bucket,
    stores,
    close() {},
  });
  return {
    verdict: worstOf(findings),
    findings: findings.map(({ check, verdict, what, mend }) => ({ check, verdict, what, mend })),
  };
}
