/**
 * For a sandbox in which a test waits for a block, a fill or a look at the chain: each takes a fraction of a second. Its market opens
 * and closes on command, and nobody waits until that is noticed.
 */
export const QUICK = {
  blockTime: 0.25,
  server: {
    MARKET_CLOCK_MAX_AGE: '1s',
  },
  enclave: { FILL_WAIT: '1500ms', CONFIRM_POLL_INTERVAL: '100ms', BROKER_CLOCK_MAX_AGE: '1ms' },
}
