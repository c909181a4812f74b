package broker_tck;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** What FutureUtil lacks before Pulsar 5.0.1. */
public class Safely {

    public static CompletableFuture<?> supplySafely(Supplier<CompletableFuture<?>> supplier) {
        try {
            return supplier.get();
        } catch (Throwable error) {
            return CompletableFuture.failedFuture(error);
        }
    }
}
