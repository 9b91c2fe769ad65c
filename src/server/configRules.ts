import type { ConfigFault, Environment } from './configVariable.js'

// What no variable can show by itself: how they stand to each other.

/** The faults between variables, whether or not each of them is well-formed. */
export function faultsBetween(environment: Environment): ConfigFault[] {
  return [
    ...repeatedContracts(environment),
    ...relayerKeyFaults(environment),
    ...triggerFaults(environment),
    ...commandFaults(environment),
    ...databaseFaults(environment),
  ]
}

const CONTRACT_VARIABLES = [
  'INSTITUTION_REGISTRY_ADDRESS',
  'ORDER_ESCROW_ADDRESS',
  'CONFIDENTIAL_LEDGER_ADDRESS',
  'EQUITY_TOKEN_ADDRESS',
  'PLATFORM_POOL_ADDRESS',
] as const

/** The five are pasted by hand, and one pasted twice would narrate and relay to the wrong contract. */
function repeatedContracts(environment: Environment): ConfigFault[] {
  const seen = new Set<string>()
  const repeated = CONTRACT_VARIABLES.filter((name) => {
    const address = environment[name]?.toLowerCase()
    if (address === undefined || !seen.has(address)) {
      if (address !== undefined) seen.add(address)
      return false
    }
    return true
  })
  return repeated.map((name) => ({ name, problem: 'is the address of another contract too' }))
}

const RELAYER_KEY_VARIABLES = [
  'RELAYER_PRIVATE_KEY',
  'RELAYER_PRIVATE_KEYS',
  'RELAYER_KMS_KEY_ID',
  'RELAYER_KMS_KEY_IDS',
] as const

function relayerKeyFaults(environment: Environment): ConfigFault[] {
  const [first, ...others] = RELAYER_KEY_VARIABLES.filter((name) => environment[name] !== undefined)
  if (first === undefined) return [{ name: 'RELAYER_PRIVATE_KEY', problem: 'is missing' }]
  return others.map((name) => ({ name, problem: `stands beside ${first}: set one of the two` }))
}

/** Settings of one kind of trigger that stand beside another are a mistake about where the enclave runs. */
function triggerFaults(environment: Environment): ConfigFault[] {
  const isRemote = environment.ENCLAVE_TRIGGER === 'http'
  const ofHttp = ['ENCLAVE_URL', 'ENCLAVE_TRIGGER_SECRET'] as const
  if (!isRemote) {
    return ofHttp
      .filter((name) => environment[name] !== undefined)
      .map((name) => ({ name, problem: 'stands without ENCLAVE_TRIGGER=http' }))
  }
  const faults: ConfigFault[] = ofHttp
    .filter((name) => environment[name] === undefined)
    .map((name) => ({ name, problem: 'is missing' }))
  if (environment.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    faults.push({ name: 'NODE_TLS_REJECT_UNAUTHORIZED', problem: 'lets anyone pass for the enclave' })
  }
  return faults
}

function commandFaults({ ENCLAVE_TRIGGER: trigger, ENCLAVE_COMMAND: command }: Environment): ConfigFault[] {
  if (command === undefined || trigger === 'process') return []
  return [{ name: 'ENCLAVE_COMMAND', problem: 'stands without ENCLAVE_TRIGGER=process' }]
}

/** An enclave that a server starts is that server's alone, and what others need to know of its runs is in its directory. */
function databaseFaults({ DATABASE_URL: url, ENCLAVE_TRIGGER: trigger }: Environment): ConfigFault[] {
  if (url === undefined || trigger === 'http') return []
  const problem =
    'stands without ENCLAVE_TRIGGER=http and ENCLAVE_URL: no server on a database starts an enclave'
  return [{ name: 'DATABASE_URL', problem }]
}

interface RelatedSettings {
  readonly PORT: number
  readonly OPS_PORT: number
  readonly ENCLAVE_TRIGGER_INTERVAL?: number | undefined
  readonly POLICY_RUN_TIMEOUT: number
}

/** The faults between settings that are well-formed. */
export function faultsOfSettings(settings: RelatedSettings): ConfigFault[] {
  const { PORT, OPS_PORT, ENCLAVE_TRIGGER_INTERVAL = 0, POLICY_RUN_TIMEOUT } = settings
  const faults: ConfigFault[] = []
  if (OPS_PORT !== 0 && OPS_PORT === PORT) {
    faults.push({
      name: 'OPS_PORT',
      problem: "is PORT too: the operator's endpoints need a port of their own",
    })
  }
  // A rulebook's caller would be gone before its turn.
  if (ENCLAVE_TRIGGER_INTERVAL >= POLICY_RUN_TIMEOUT) {
    faults.push({ name: 'ENCLAVE_TRIGGER_INTERVAL', problem: 'is not shorter than POLICY_RUN_TIMEOUT' })
  }
  return faults
}
