/** An amount in USD, never with an exponent. */
export function usdText(usd: number): string {
  const [whole = '', fraction = ''] = usd.toFixed(9).split('.');
  return `${whole}.${fraction.replace(/0{1,7}$/, '')}`;
}
