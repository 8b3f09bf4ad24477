import type { AwsSigningKey } from '../kit/crypto/sign-aws.ts';

/** Where and how the generations of a destination are written. It holds secrets: never log or show it. */
export type DestinationTarget = OtlpTarget | ObjectTarget | RowTarget;

/** A receiver of OTLP/HTTP. */
export interface OtlpTarget {
  readonly writer: 'otlp';
  /** The whole address of its traces. */
  readonly url: string;
  readonly method: 'POST' | 'PUT';
  readonly encoding: 'json' | 'protobuf';
  /** Lower-case names, without those that the encoding needs. */
  readonly headers: Readonly<Record<string, string>>;
  /** Attributes of the resource that the receiver finds its project by. */
  readonly resource: Readonly<Record<string, string>>;
  /** Where else it finds the metadata of traces: what the names of their attributes begin with. */
  readonly metadataPrefix?: string;
}

/** A bucket of an S3-compatible service. */
export interface ObjectTarget {
  readonly writer: 'objects';
  /** Address of the bucket, without a slash at its end. */
  readonly url: string;
  readonly signingKey: AwsSigningKey;
  /** Folders of an object's key, with variables in braces: see `objectFolder`. */
  readonly pathTemplate: string;
  readonly prefix: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A table of a ClickHouse server. */
export interface RowTarget {
  readonly writer: 'rows';
  /** Address of its HTTP interface, without a slash at its end. */
  readonly url: string;
  /** Plain names, which need no quotes. */
  readonly database: string;
  readonly table: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}
