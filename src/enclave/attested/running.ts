import type { SignerProgram } from '../../chain/signerProgram.js'
import { bytesToHex } from '../../protocol/hex.js'
import { Secret } from '../../service/secret.js'
import type { TradingConfig } from '../commonConfig.js'
import type { KeysInUse } from '../doctor/checkup.js'
import type { Enclave } from '../enclave.js'
import { deriveKeys } from '../keys/born.js'
import { createKeys } from '../keys/keys.js'
import { enclaveOf, type Start } from '../program.js'
import type { Evidence } from './evidence.js'
import type { Secrets } from './gathering.js'
import { postEvidence } from './posting.js'
import type { AttestedConfig } from './settings.js'

/** An attested enclave that has its keys. */
interface Running {
  readonly enclave: Enclave
  readonly born: Parameters<Evidence['born']>[0]
  /** What reports are about. */
  readonly subject: { readonly config: TradingConfig; readonly inUse: KeysInUse }
}

const NAMES = { signer: "the enclave's own signer", master: 'the master key' }

/** The enclave from when it has its keys: it trades, and posts its evidence until `stopping` aborts. */
export function createRunning(deps: {
  readonly start: Pick<Start<AttestedConfig>, 'config' | 'settings' | 'logger'>
  readonly own: SignerProgram
  readonly evidence: Pick<Evidence, 'born'>
  readonly stopping: AbortSignal
}) {
  const { own, evidence, stopping } = deps
  const { config, settings, logger } = deps.start
  let running: Running | undefined
  return {
    /** Undefined until it has its keys. */
    now: () => running,
    /** Call it once. */
    begin({ master, brokerKeys }: Secrets): void {
      const { intent, signing } = deriveKeys(master, own)
      const keys = createKeys({
        master: new Secret(bytesToHex(master)),
        intent: new Secret(intent),
        signing: new Secret(signing),
        former: config.FORMER_PROGRAMS.map((each) => new Secret(deriveKeys(master, each).intent)),
      })
      const { keyId, secretKey } = brokerKeys
      const trading = { ...config, ALPACA_KEY_ID: keyId, ALPACA_SECRET_KEY: secretKey }
      const { sealKey, signer } = keys
      const born = { sealKey, signer }
      const subject = { config: trading, inUse: { ...born, keys, names: NAMES } }
      running = { enclave: enclaveOf(trading, keys, logger), born, subject }
      void postEvidence({ ...settings, attest: () => evidence.born(born), stopping, logger })
    },
  }
}
