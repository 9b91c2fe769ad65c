import { randomBytes } from 'node:crypto'
import { addressOfKey, draw, publicKeyOfKey } from '../operate/secretFiles.js'
import { BROKER_CASH } from './settings.js'

/** All secrets of a sandbox, drawn at each start, and the public parts of two. */
export type SandboxSecrets = ReturnType<typeof drawSecrets>

export function drawSecrets() {
  const intentPrivateKey = draw.privateKey()
  const enclavePrivateKey = draw.privateKey()
  return {
    ledgerMasterKey: draw.privateKey(),
    intentPrivateKey,
    intentPublicKey: publicKeyOfKey(intentPrivateKey),
    enclavePrivateKey,
    enclaveSigner: addressOfKey(enclavePrivateKey),
    relayAuthToken: draw.token(),
    /** Shared by server and enclave. */
    triggerSecret: draw.triggerSecret(),
    /** The enclave's trading account at the broker. */
    enclaveBroker: brokerAccount('enclave', BROKER_CASH),
    /** The server's account at the broker, which only reads prices and the clock. */
    serverBroker: brokerAccount('server', '0'),
  }
}

function brokerAccount(name: string, cash: string) {
  const keyId = `PK${randomBytes(9).toString('hex').toUpperCase()}`
  return { name, cash, keyId, secretKey: randomBytes(20).toString('hex') }
}
