import { configurationFileSchema } from '../../config/schema/file-schema.ts';
import { type CommandResult, documentText } from '../terminal/output.ts';

/** The JSON Schema of the configuration file. It is JSON for people and programs alike. */
export function showSchema(): CommandResult<object> {
  const schema = configurationFileSchema();
  return { result: schema, text: documentText(schema) };
}
