/** How every file of DuckDB is opened: nothing is loaded from outside, and memory goes back once work is done. */
export const DUCKDB_OPTIONS: Readonly<Record<string, string>> = {
  threads: '2',
  memory_limit: '256MB',
  allocator_flush_threshold: '1MB',
  allocator_bulk_deallocation_flush_threshold: '1MB',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
};
