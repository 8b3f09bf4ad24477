import { remembered } from '../../kit/collections/remembered.ts';

/** The header by which a gateway says that a request is part of a fusion; one object for each vendor. */
export const depthHeaders = remembered(16, (vendor) => ({ [`x-${vendor}-fusion-depth`]: '1' }));
