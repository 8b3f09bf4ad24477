/**
 * Packages that are installed beside the program: with binaries, or with files that it finds when it runs. All others
 * of `dependencies` are bundled into it, or into the console.
 */
export const INSTALLED = ['@duckdb/node-bindings', 'gpt-tokenizer', 'libsql', 'unpdf'];
