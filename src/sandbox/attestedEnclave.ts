// The attested enclave on stand-ins of its hardware: no other build knows the machine `test`, nor another agent or root of dstack.
import { createDstack } from '../enclave/attested/dstack.js'
import type { Machine } from '../enclave/attested/machine.js'
import { measurementIn } from '../enclave/attested/ownDocument.js'
import { runAttested } from '../enclave/attested/program.js'
import { lock, unlock } from '../enclave/attested/secretBox.js'
import { TEST_FORMAT } from '../protocol/attestation.js'
import { openDevice } from '../simulator/device/device.js'

const { SANDBOX_DEVICE = '', SANDBOX_DSTACK = '', SANDBOX_INTEL = '', SANDBOX_ROOT = '' } = process.env

function testMachine(): Machine {
  const { root, sealingKey, evidence } = openDevice(SANDBOX_DEVICE, process.argv[1] ?? '')
  return {
    ...{ format: TEST_FORMAT, evidence },
    measurement: async () => measurementIn(await evidence(new Uint8Array(32)), root),
    sealing: { seal: (secret) => lock(sealingKey, secret), unseal: (sealed) => unlock(sealingKey, sealed) },
  }
}

const intel = { service: SANDBOX_INTEL, certificates: SANDBOX_INTEL }
const machines = {
  test: testMachine,
  dstack: () => createDstack({ socket: SANDBOX_DSTACK, root: SANDBOX_ROOT, intel }),
}
// The tests' programs share a cache of compiled code, which is code that no measurement shows.
await runAttested('dist/sandbox/attestedEnclave.js', machines, ['NODE_COMPILE_CACHE'])
