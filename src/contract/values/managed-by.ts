import { oneOf } from '../../kit/json/schema.ts';
import { nullable } from './nullable.ts';

/** Shown of what the configuration file may declare. */
export const managedBySchema = nullable(oneOf(['file']), {
  description:
    '`file`: the configuration file of the gateway declares it, and changes by the API are refused with 409. ' +
    'Null: it is changed by the API.',
});

/** `fileMember`: where the configuration file declares it; null = it does not. */
export function managedBy(fileMember: string | null): 'file' | null {
  return fileMember === null ? null : 'file';
}
