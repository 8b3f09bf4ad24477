/** Stands in place of a result of which an item or block shows less than its model got. */
export const RESULT_NOT_KEPT = 'The result itself is no longer known.';
