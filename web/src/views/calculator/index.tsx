// Stands where the calculator view will be.
import { Empty } from '../../ui/states'

export default function View() {
  return <Empty title="Calculator" text="This view is being built." />
}
