// The attested enclave on stand-ins of its hardware: no other build knows the platform `test`, nor another agent or root of dstack.
import { createDstack } from '../enclave/attested/dstack.js'
import { runAttested } from '../enclave/attested/program.js'
import { createTestDevice } from './device/device.js'

const { SANDBOX_DEVICE = '', SANDBOX_DSTACK = '', SANDBOX_INTEL = '', SANDBOX_ROOT = '' } = process.env

await runAttested('dist/sandbox/attestedEnclave.js', {
  test: () => createTestDevice(SANDBOX_DEVICE, process.argv[1] ?? ''),
  dstack: () =>
    createDstack({
      ...{ socket: SANDBOX_DSTACK, root: SANDBOX_ROOT },
      intel: { service: SANDBOX_INTEL, certificates: SANDBOX_INTEL },
    }),
})
