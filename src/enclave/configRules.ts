import { isLoopback } from '../protocol/secureUrl.js'
import { hostOf, namesTwice, type Rule, shareHost } from '../service/settingRules.js'
import type { CommonConfig } from './commonSettings.js'
import { MAX_LOOK_AGE_MS } from './run.js'

/** The chains of anvil and Hardhat, and of a geth for development: nobody else's money is on them. */
const TEST_CHAINS: ReadonlySet<number> = new Set([31_337, 1_337])

/** What the enclave's settings must be to one another. */
export const RULES: readonly Rule<CommonConfig>[] = [
  {
    name: 'CHAIN_DEPTH',
    problem: 'acts on blocks that a reorganization takes back: 0 is for a local test chain (31337, 1337)',
    isBroken: ({ CHAIN_DEPTH, CHAIN_ID }) => CHAIN_DEPTH === 0 && !TEST_CHAINS.has(CHAIN_ID),
  },
  {
    // Another run's send may be on its way for so long after its look at the chain: its order would be refunded and filled.
    name: 'ABSENT_RECHECK_AFTER',
    problem: `is not longer than BROKER_TIMEOUT and ${MAX_LOOK_AGE_MS / 1_000}s together: an order that is still being sent would be refunded`,
    isBroken: ({ ABSENT_RECHECK_AFTER, BROKER_TIMEOUT }) =>
      ABSENT_RECHECK_AFTER <= BROKER_TIMEOUT + MAX_LOOK_AGE_MS,
  },
  {
    name: 'RPC_WITNESS_URL',
    problem: 'names a host of RPC_URL: a witness is a node of another operator',
    isBroken: ({ RPC_WITNESS_URL, RPC_URL }) => shareHost(RPC_WITNESS_URL, RPC_URL),
  },
  {
    name: 'RPC_WITNESS_URL',
    problem: 'names one node twice: a second one must be another',
    isBroken: ({ RPC_WITNESS_URL }) => namesTwice(RPC_WITNESS_URL),
  },
  {
    name: 'RPC_URL',
    problem: 'names one node twice: a second one must be another',
    isBroken: ({ RPC_URL }) => namesTwice(RPC_URL),
  },
  {
    // Every head would be too old once a slow node has said it.
    name: 'RPC_TIMEOUT',
    problem: 'is not shorter than CHAIN_MAX_HEAD_AGE',
    isBroken: ({ RPC_TIMEOUT, CHAIN_MAX_HEAD_AGE }) => RPC_TIMEOUT >= CHAIN_MAX_HEAD_AGE,
  },
  {
    name: 'CONFIRM_POLL_INTERVAL',
    problem: 'is not shorter than CHAIN_DEPTH_WAIT: a run would give up before its second look',
    isBroken: ({ CONFIRM_POLL_INTERVAL, CHAIN_DEPTH_WAIT, CHAIN_DEPTH }) =>
      typeof CHAIN_DEPTH === 'number' && CHAIN_DEPTH > 0 && CONFIRM_POLL_INTERVAL >= CHAIN_DEPTH_WAIT,
  },
  {
    name: 'CONFIRM_POLL_INTERVAL',
    problem: 'is not shorter than RELAY_RETRY_AFTER: the relay would be asked again before the chain is',
    isBroken: ({ CONFIRM_POLL_INTERVAL, RELAY_RETRY_AFTER }) => CONFIRM_POLL_INTERVAL >= RELAY_RETRY_AFTER,
  },
  {
    name: 'RECONCILE_MAX_DELAY_DAYS',
    problem:
      'is 0, so that no fill waits for the company that RECONCILE_MIN_ACCOUNTS asks for: set that to 1',
    isBroken: ({ RECONCILE_MAX_DELAY_DAYS, RECONCILE_MIN_ACCOUNTS }) =>
      RECONCILE_MAX_DELAY_DAYS === 0 && RECONCILE_MIN_ACCOUNTS > 1,
  },
  {
    name: 'ENCLAVE_LISTEN',
    problem: "is RELAY_URL's place too: server and enclave need a port each",
    isBroken: ({ ENCLAVE_LISTEN, RELAY_URL }) =>
      'port' in ENCLAVE_LISTEN &&
      hostOf(RELAY_URL) ===
        `${isLoopback(ENCLAVE_LISTEN.host) ? 'localhost' : ENCLAVE_LISTEN.host}:${ENCLAVE_LISTEN.port}`,
  },
]
