package broker_tck.threads;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A wait for a future that has a limit of time. It lasts until the limit, unless the future has ended when it begins. */
public final class Futures {

    /** Whether a wait has lasted until its limit. */
    public static boolean ranOut;

    public static Object get(CompletableFuture<?> future, long limit, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        if (!future.isDone()) {
            ranOut = true;
            throw new TimeoutException();
        }
        return future.get();
    }
}
