import { ADDRESS_VARIABLES, CONTRACT_NAMES } from '../../chain/contracts.js'
import { sameAddress } from '../../protocol/address.js'
import { formatFees } from '../../protocol/fees.js'
import { type EnclaveFacts, type Finding, fault, ok, unchecked } from '../../protocol/finding.js'
import { samePoint } from '../../protocol/point.js'
import type { ServerReport } from './serverPart.js'

/** Whether the two configurations match. Compares only public values. */
export function compare(server: ServerReport['facts'], enclave: EnclaveFacts | null): Finding[] {
  if (!server || !enclave) {
    return [unchecked('same-platform', 'not compared: at least one configuration cannot be read')]
  }
  return [
    comparePlatform(server.config.chain, enclave),
    ...compareKeys(server.config.enclave, enclave),
    compareAccounts(server.brokerAccount, enclave.brokerAccount),
    compareFees(formatFees(server.config.broker.fees), enclave.brokerFees),
  ]
}

type Server = NonNullable<ServerReport['facts']>['config']

/** Nothing where the server has none configured: an attested enclave posts its keys. */
function compareKeys({ signer, intentPublicKey }: Server['enclave'], enclave: EnclaveFacts): Finding[] {
  if (signer === undefined || intentPublicKey === undefined) return []
  return [compareSigner(signer, enclave.signer), compareIntentKey(intentPublicKey, enclave.intentPublicKey)]
}

function comparePlatform({ chainId, contracts }: Server['chain'], enclave: EnclaveFacts): Finding {
  const differing = CONTRACT_NAMES.filter(
    (name) => !sameAddress(contracts[name], enclave.contracts[name]),
  ).map((name) => ADDRESS_VARIABLES[name])
  const names = chainId === enclave.chainId ? differing : ['CHAIN_ID', ...differing]
  return names.length === 0
    ? ok('same-platform', 'server and enclave use the same chain and contracts')
    : fault('same-platform', `server and enclave differ in ${names.join(', ')}: give both the same`)
}

function compareSigner(configured: string, actual: string): Finding {
  return sameAddress(configured, actual)
    ? ok('same-signer', "ENCLAVE_SIGNER is the address of the enclave's key")
    : fault(
        'same-signer',
        `ENCLAVE_SIGNER is ${configured}, but the enclave signs as ${actual}: set it to the enclave's`,
      )
}

function compareIntentKey(configured: `0x${string}`, actual: `0x${string}`): Finding {
  return samePoint(configured, actual)
    ? ok('intent-key', "INTENT_PUBKEY matches the enclave's key")
    : fault(
        'intent-key',
        `INTENT_PUBKEY is not the enclave's: set it to ${actual}, or no order can be opened`,
      )
}

function compareFees(stated: string, charged: string): Finding {
  return stated === charged
    ? ok('same-fees', 'the server states the fees that the enclave charges')
    : fault(
        'same-fees',
        `BROKER_FEES is ${stated} for the server, ${charged} for the enclave: employees see fees that their sales do not pay`,
      )
}

function compareAccounts(server: string | null, enclave: string | null): Finding {
  if (server === null || enclave === null) {
    return unchecked('broker-accounts', 'not compared: the broker rejects the keys of at least one')
  }
  return server === enclave
    ? fault(
        'broker-accounts',
        "the server's broker keys are of the account that the enclave trades with, so the server could read every \
order there: give it keys of another account",
      )
    : ok('broker-accounts', "the server's broker keys belong to another account than the enclave's")
}
