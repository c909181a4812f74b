package odd;

import io.netty.util.Timeout;
import io.netty.util.TimerTask;
import java.util.ArrayList;
import java.util.List;

/** Writes down what its timeout says of itself as it runs: whether it expired, was cancelled, can be cancelled. */
public class Task implements TimerTask {

    public final List<Boolean> seen = new ArrayList<>();

    @Override
    public void run(Timeout timeout) {
        seen.add(timeout.isExpired());
        seen.add(timeout.isCancelled());
        seen.add(timeout.cancel());
    }
}
