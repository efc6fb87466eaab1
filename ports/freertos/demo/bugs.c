/* SPDX-License-Identifier: MIT */
/*
 * bugs.c - bugs as FreeRTOS applications have them. Each is a function with its own name, so that a report can be seen
 * to name it. ports/freertos/host/planted.py says what each report must have.
 */
#include <stdint.h>
#include <string.h>

#include "FreeRTOS.h"
#include "event_groups.h"
#include "message_buffer.h"
#include "queue.h"
#include "semphr.h"
#include "stream_buffer.h"
#include "task.h"
#include "timers.h"

#include "board.h"
#include "bugs.h"

#define BUG static __attribute__((noinline)) void

/* The compiler must not see through the index or the pointer. */
static size_t hidden(size_t value)
{
	__asm__ volatile("" : "+r"(value));
	return value;
}

static void *hide(void *pointer)
{
	__asm__ volatile("" : "+r"(pointer) : : "memory");
	return pointer;
}

static volatile uint8_t sink;
/* Tasks that a bug needs tell the planting task that they are done. */
static TaskHandle_t planter;

static __attribute__((noinline)) void release(void *buffer)
{
#if DEMO_HEAP != 1
	vPortFree(buffer);
#endif
}

static void done(void)
{
	xTaskNotifyGive(planter);
#if DEMO_HEAP != 1
	vTaskDelete(NULL);
#else
	vTaskSuspend(NULL);
#endif
}

/* --- The heap ---------------------------------------------------------------------------------------------- */

BUG heap_overflow(void)
{
	uint8_t *buffer = pvPortMalloc(13);

	buffer[hidden(13)] = 1;
	release(buffer);
}

BUG heap_underflow(void)
{
	uint8_t *buffer = pvPortMalloc(24);

	sink = buffer[hidden(0) - 1];
	release(buffer);
}

BUG heap_copy(void)
{
	static const char text[] = "0123456789abcdefghijklmn";
	char *buffer = pvPortMalloc(20);

	memcpy(hide(buffer), text, hidden(sizeof(text)));
	release(buffer);
}

#if DEMO_HEAP != 1

BUG use_after_free(void)
{
	uint32_t *counters = pvPortMalloc(10 * sizeof(*counters));

	vPortFree(counters);
	sink = (uint8_t)((volatile uint32_t *)hide(counters))[3];
}

BUG double_free(void)
{
	void *buffer = pvPortMalloc(40);

	release(buffer);
	release(hide(buffer));
}

BUG invalid_free(void)
{
	uint8_t *buffer = pvPortMalloc(40);

	release(buffer + hidden(8));
	vPortFree(buffer);
}

BUG free_of_global(void)
{
	static uint8_t area[32];

	release(hide(area));
}

/* --- Between tasks ----------------------------------------------------------------------------------------- */

static void run_task(TaskFunction_t function, const char *name, void *argument)
{
	xTaskCreate(function, name, configMINIMAL_STACK_SIZE, argument, 5, NULL);
	ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
	/* The idle task frees the stack. */
	vTaskDelay(pdMS_TO_TICKS(10));
}

static QueueHandle_t queue;

/* Sends a buffer, and frees it as well. */
static void hasty_sender(void *argument)
{
	char *text = pvPortMalloc(16);

	strcpy(text, "temperature 23");
	xQueueSend(queue, &text, portMAX_DELAY);
	vPortFree(text);
	done();
}

BUG read_received(void)
{
	volatile char *text;

	xQueueReceive(queue, (void *)&text, portMAX_DELAY);
	sink = (uint8_t)text[3];
}

BUG freed_by_sender(void)
{
	queue = xQueueCreate(1, sizeof(char *));
	run_task(hasty_sender, "sender", NULL);
	read_received();
	vQueueDelete(queue);
}

struct sample {
	uint32_t words[4];
};

BUG queue_receive_small(void)
{
	const struct sample sample = {{1, 2, 3, 4}};
	uint8_t *buffer = pvPortMalloc(12);

	queue = xQueueCreate(2, sizeof(struct sample));
	xQueueSend(queue, &sample, 0);
	xQueueReceive(queue, hide(buffer), 0);
	vPortFree(buffer);
	vQueueDelete(queue);
}

BUG queue_deleted(void)
{
	uint32_t word = 1;

	queue = xQueueCreate(4, sizeof(word));
	vQueueDelete(queue);
	xQueueSend(hide(queue), &word, 0);
}

BUG semaphore_deleted_twice(void)
{
	SemaphoreHandle_t semaphore = xSemaphoreCreateBinary();

	vSemaphoreDelete(semaphore);
	/* Looks at the semaphore before it frees it: two reports. */
	vSemaphoreDelete((SemaphoreHandle_t)hide(semaphore));
}

BUG event_group_deleted(void)
{
	EventGroupHandle_t group = xEventGroupCreate();

	vEventGroupDelete(group);
	xEventGroupSetBits((EventGroupHandle_t)hide(group), 1);
}

BUG stream_receive_small(void)
{
	StreamBufferHandle_t stream = xStreamBufferCreate(64, 1);
	uint8_t *buffer = pvPortMalloc(10);

	xStreamBufferSend(stream, "twenty-two characters.", 22, 0);
	xStreamBufferReceive(stream, hide(buffer), hidden(22), 0);
	vPortFree(buffer);
	vStreamBufferDelete(stream);
}

BUG message_buffer_deleted(void)
{
	MessageBufferHandle_t box = xMessageBufferCreate(64);

	vMessageBufferDelete(box);
	xMessageBufferSend((MessageBufferHandle_t)hide(box), "late", 4, 0);
}

struct blinker {
	uint32_t state;
	TaskHandle_t owner;
};

static void blink(TimerHandle_t timer)
{
	struct blinker *blinker = pvTimerGetTimerID(timer);

	blinker->state++;
}

BUG timer_context_freed(void)
{
	struct blinker *blinker = pvPortMalloc(sizeof(*blinker));
	TimerHandle_t timer = xTimerCreate("blink", pdMS_TO_TICKS(3), pdFALSE, blinker, blink);

	xTimerStart(timer, portMAX_DELAY);
	vPortFree(blinker);
	vTaskDelay(pdMS_TO_TICKS(30));
	xTimerDelete(timer, portMAX_DELAY);
	vTaskDelay(pdMS_TO_TICKS(10));
}

/* --- Tasks ------------------------------------------------------------------------------------------------- */

static void short_lived(void *argument)
{
	vTaskSuspend(NULL);
	for (;;)
		;
}

BUG task_deleted(void)
{
	TaskHandle_t task;

	xTaskCreate(short_lived, "short-lived", configMINIMAL_STACK_SIZE, NULL, 5, &task);
	vTaskDelete(task);
	sink = (uint8_t)uxTaskPriorityGet((TaskHandle_t)hide(task));
}

static volatile uint8_t *published;

/* Publishes a variable of its stack, and dies. */
static void publisher(void *argument)
{
	uint8_t reading[16] = {1, 2, 3};

	published = hide(reading);
	done();
}

BUG stack_of_dead_task(void)
{
	run_task(publisher, "publisher", NULL);
	sink = published[2];
}

static struct {
	StackType_t below[256];
	StackType_t stack[configMINIMAL_STACK_SIZE];
} deep;

/* Not more than the registers of a context switch take. */
#ifdef __arm__
#define SWITCH_BYTES 64
#else
#define SWITCH_BYTES (25 * sizeof(StackType_t))
#endif

static __attribute__((noinline)) uint32_t dig(uint32_t level)
{
	volatile uint8_t room[40];

	room[0] = (uint8_t)level;
	/* The last frame has no room for what a context switch saves. */
	if ((uintptr_t)__builtin_frame_address(0) < (uintptr_t)deep.stack + SWITCH_BYTES) {
		taskYIELD();
		return room[0];
	}
	return room[0] + dig(level + 1);
}

static void digger(void *argument)
{
	sink = (uint8_t)dig(0);
	done();
}

BUG stack_overflow(void)
{
	static StaticTask_t task;

	xTaskCreateStatic(digger, "digger", configMINIMAL_STACK_SIZE, NULL, 5, deep.stack, &task);
	ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
	vTaskDelay(pdMS_TO_TICKS(10));
}

/* Reaches far below its stack, with no switch on the way. Where no MPU refuses it, the lowest 32 bytes of the stack tell, and
 * only of what was written there: then it writes all of its frame, without redzones, which would be gaps. */
#ifdef __arm__
#define BURROWER
#define BURROW_BYTES 1
#else
#define BURROWER     __attribute__((no_sanitize_address))
#define BURROW_BYTES sizeof(room)
#endif
static __attribute__((noinline)) BURROWER uint32_t burrow(uint32_t level)
{
	volatile uint8_t room[40];

	for (size_t i = 0; i < BURROW_BYTES; i++)
		room[i] = (uint8_t)level;
	if ((uintptr_t)__builtin_frame_address(0) < (uintptr_t)deep.stack - 200)
		return room[0];
	return room[0] + burrow(level + 1);
}

static void miner(void *argument)
{
	sink = (uint8_t)burrow(0);
	done();
}

BUG stack_overrun(void)
{
	static StaticTask_t task;

	xTaskCreateStatic(miner, "miner", configMINIMAL_STACK_SIZE, NULL, 5, deep.stack, &task);
	ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
	vTaskDelay(pdMS_TO_TICKS(10));
}

#endif /* DEMO_HEAP != 1 */

/* --- Variables --------------------------------------------------------------------------------------------- */

static uint8_t calibration[10];

BUG global_overflow(void)
{
	calibration[hidden(10)] = 1;
	sink = calibration[hidden(0)];
}

BUG local_overflow(void)
{
	uint8_t frame_buffer[20];

	memset(hide(frame_buffer), 0, sizeof(frame_buffer));
	sink = frame_buffer[hidden(20)];
}

BUG use_after_scope(void)
{
	volatile uint8_t *kept = NULL;

	for (size_t i = 0; i < hidden(1); i++) {
		uint8_t scratch[24] = {1};

		kept = hide(scratch);
		kept[1] = 2;
	}
	sink = kept[1];
}

static volatile uint32_t interrupts;

static __attribute__((noinline)) void read_registers(void)
{
	uint8_t status_bytes[12];

	memset(hide(status_bytes), 0, sizeof(status_bytes));
	sink = status_bytes[hidden(12)];
}

void demo_interrupt(void)
{
	read_registers();
	interrupts++;
}

BUG interrupt_local(void)
{
	board_interrupt();
	configASSERT(interrupts);
}

/* --- Pointers to nowhere ----------------------------------------------------------------------------------- */

struct device {
	uint32_t flags, state[4];
};

BUG null_pointer(void)
{
	struct device *device = hide(NULL);

	sink = (uint8_t)device->state[2];
}

BUG wild_pointer(void)
{
	sink = *(volatile uint8_t *)hide((void *)0x2fff0010);
}

BUG jump_to_null(void)
{
	void (*callback)(void) = (void (*)(void))(uintptr_t)hidden(0);

	callback();
}

static void null_task(void *argument)
{
	void (*bug)(void) = (void (*)(void))argument;

	bug();
	done();
}

void kasan_freertos_fault_end(bool in_task)
{
	configASSERT(in_task);
	/* It may have been in the middle of a function of FreeRTOS's. */
	while (xTaskGetSchedulerState() == taskSCHEDULER_SUSPENDED)
		xTaskResumeAll();
	done();
}

/* --- All of them ------------------------------------------------------------------------------------------- */

#define ROW(name)	  {#name, name, 0}
#define ROW_OF_TASK(name) {#name, name, 1}

static const struct {
	const char *name;
	void (*plant)(void);
	char in_task;
} bugs[] = {
	ROW(heap_overflow),
	ROW(heap_underflow),
	ROW(heap_copy),
#if DEMO_HEAP != 1
	ROW(use_after_free),
	ROW(double_free),
	ROW(invalid_free),
	ROW(free_of_global),
	ROW(freed_by_sender),
	ROW(queue_receive_small),
	ROW(queue_deleted),
	ROW(semaphore_deleted_twice),
	ROW(event_group_deleted),
	ROW(stream_receive_small),
	ROW(message_buffer_deleted),
	ROW(timer_context_freed),
	ROW(task_deleted),
	ROW(stack_of_dead_task),
	ROW(stack_overflow),
	ROW(stack_overrun),
#endif
	ROW(global_overflow),
	ROW(local_overflow),
	ROW(use_after_scope),
	ROW(interrupt_local),
	ROW_OF_TASK(null_pointer),
	ROW_OF_TASK(wild_pointer),
	ROW_OF_TASK(jump_to_null),
};

void plant_bugs(void)
{
	size_t i;

	planter = xTaskGetCurrentTaskHandle();
	for (i = 0; i < sizeof(bugs) / sizeof(*bugs); i++) {
		board_puts("bug ");
		board_puts(bugs[i].name);
		board_puts("\n");
		if (bugs[i].in_task) {
			xTaskCreate(null_task, "lost", configMINIMAL_STACK_SIZE,
				    (void *)bugs[i].plant, 5, NULL);
			ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
			vTaskDelay(pdMS_TO_TICKS(5));
		} else {
			bugs[i].plant();
		}
	}
}
