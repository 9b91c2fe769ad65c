import { describe, expect, test } from 'vitest'
import { RpcProvider } from '../../../src/chain/provider.js'
import type { RpcTransport } from '../../../src/chain/rpcTransport.js'
import { useChain } from '../../support/chain.js'
import { bytes32, setUpInstitution } from '../../support/institution.js'
import { createScriptedEnclave } from '../../support/scriptedEnclave.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { outcomes, startTrigger } from '../../support/triggerHarness.js'

const chain = useChain(setUpInstitution)
const A = bytes32('A')

/** A node that never shows an event. */
function withoutEvents(transport: RpcTransport): RpcTransport {
  return {
    ...transport,
    async send(calls, signal) {
      const answers = await transport.send(calls, signal)
      return answers.map((answer, at) =>
        calls[at]?.method === 'eth_getLogs' ? { ...answer, result: [] } : answer,
      )
    },
  }
}

describe('a stored order whose opening no event has shown', () => {
  test('runs all the same', async () => {
    const directory = await temporaryDirectory()
    const { rpcUrl, chainId } = chain().anvil
    const { transport } = new RpcProvider({ urls: [rpcUrl], timeoutMs: 5_000, chainId })
    const enclave = createScriptedEnclave(directory)
    const { place, until } = await startTrigger(chain(), enclave, `${directory}/data`, {
      transport: withoutEvents(transport),
    })
    await place('alice', A)
    const record = await until(A, 'its run', (found) => outcomes(found)[0] === 'placed')
    expect(record.triggers[0]?.reason).toBe('received')
  })
})
