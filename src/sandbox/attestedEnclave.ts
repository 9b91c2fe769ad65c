// The attested enclave on a stand-in of its hardware: no other build knows this platform.
import { runAttested } from '../enclave/attested/program.js'
import { createTestDevice } from './device/device.js'

await runAttested('dist/sandbox/attestedEnclave.js', {
  test: () => createTestDevice(process.env.SANDBOX_DEVICE ?? '', process.argv[1] ?? ''),
})
