// What an operator can do with the state directory of an attested enclave, which is his.
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createSealedKeys } from '../../../src/enclave/attested/sealedKeys.js'
import { lock, unlock } from '../../../src/enclave/attested/secretBox.js'
import { deriveKeys, drawMaster } from '../../../src/enclave/keys/born.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { createLogLines } from '../../support/logLines.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const bytes32 = (digits: string): Hex => `0x${digits.repeat(32)}`
const MEASUREMENT = bytes32('07')
const [FIRST, SECOND] = [bytes32('c1'), bytes32('c2')]

async function useState() {
  const directory = await temporaryDirectory()
  const key = drawMaster()
  /** Hardware that keeps a key for this program alone. */
  const sealing = {
    seal: (secret: Uint8Array<ArrayBuffer>) => lock(key, secret),
    unseal: (sealed: Uint8Array<ArrayBuffer>) => unlock(key, sealed),
  }
  return {
    file: join(directory, 'sealed-keys'),
    startedWith: (configuration: Hex) =>
      createSealedKeys({ directory, platform: { sealing }, configuration, logger: createLogLines().logger }),
  }
}

it('the operator starts a withdrawn configuration again from its old file: what clients seal since does not open, and no contract takes its signer', async () => {
  const { file, startedWith } = await useState()
  const secrets = { master: drawMaster(), brokerKeys: { keyId: 'PK', secretKey: 'secret' } }
  await startedWith(FIRST).save(secrets)
  await copyFile(file, `${file}.kept`)
  // Holders agree to other settings.
  expect(await startedWith(SECOND).load()).toBeUndefined()
  await startedWith(SECOND).save(secrets)
  const inForce = deriveKeys(secrets.master, { measurement: MEASUREMENT, config: SECOND })

  await copyFile(`${file}.kept`, file)
  const { master } = (await startedWith(FIRST).load()) ?? expect.fail('it opens for its own configuration')
  const { intent, signing } = deriveKeys(master, { measurement: MEASUREMENT, config: FIRST })
  expect(intent).not.toBe(inForce.intent)
  expect(signing).not.toBe(inForce.signing)
})
