// Stands where the traces view will be.
import { Empty } from '../../ui/states'

export default function View() {
  return <Empty title="Traces" text="This view is being built." />
}
