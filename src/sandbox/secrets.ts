import { randomBytes } from 'node:crypto'
import { computeAddress } from 'ethers'
import { checksum } from '../protocol/address.js'
import { bytesToHex, type Hex, hexToBytes } from '../protocol/hex.js'
import { publicKeyOf } from '../protocol/publicKey.js'
import type { StandInAccountConfig } from '../simulator/index.js'
import { BROKER_CASH } from './settings.js'

/** All secrets of a sandbox, drawn at each start. */
export interface SandboxSecrets {
  ledgerMasterKey: Hex
  intentPrivateKey: Hex
  enclavePrivateKey: Hex
  relayAuthToken: string
  /** Shared by server and enclave. */
  triggerSecret: string
  /** The enclave's trading account at the broker. */
  enclaveBroker: StandInAccountConfig
  /** The server's account at the broker, which only reads prices and the clock. */
  serverBroker: StandInAccountConfig
}

export function drawSecrets(): SandboxSecrets {
  return {
    ledgerMasterKey: random32(),
    intentPrivateKey: random32(),
    enclavePrivateKey: random32(),
    relayAuthToken: randomBytes(32).toString('hex'),
    triggerSecret: `whsec_${randomBytes(32).toString('base64')}`,
    enclaveBroker: brokerAccount('enclave', BROKER_CASH),
    serverBroker: brokerAccount('server', '0'),
  }
}

/** The public part of the secrets. */
export function publicIdentity({ intentPrivateKey, enclavePrivateKey }: SandboxSecrets) {
  return {
    intentPublicKey: publicKeyOf(hexToBytes(intentPrivateKey)),
    enclaveSigner: checksum(computeAddress(enclavePrivateKey)),
  }
}

function random32(): Hex {
  return bytesToHex(randomBytes(32))
}

function brokerAccount(name: string, cash: string): StandInAccountConfig {
  return {
    name,
    cash,
    keyId: `PK${randomBytes(9).toString('hex').toUpperCase()}`,
    secretKey: randomBytes(20).toString('hex'),
  }
}
