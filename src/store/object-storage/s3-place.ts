import type { S3Place } from './s3-storage.ts';

export interface S3Bucket {
  /** Scheme, host and port of the service; absent = AWS in the region. */
  readonly endpoint?: string | null | undefined;
  readonly region: string;
  readonly bucket: string;
  /** Begins every key; empty, or ends with a slash. */
  readonly prefix: string;
  /** Whether the bucket is part of the path instead of the host. */
  readonly isPathStyle: boolean;
}

export function s3PlaceOf({ endpoint, region, bucket, prefix, isPathStyle }: S3Bucket): S3Place {
  const origin = endpoint ?? `https://s3.${region}.amazonaws.com`;
  return isPathStyle
    ? { origin, bucketPath: `/${bucket}`, prefix }
    : { origin: origin.replace('://', `://${bucket}.`), bucketPath: '', prefix };
}
